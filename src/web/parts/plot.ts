import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import type UPlot from "uplot";
import { Show, useLoaded } from "./loading.ts";

interface PlotProps {
  label: string;
  xLabel: string;
  xs: readonly number[];
  ys: readonly number[];
}

const HEIGHT = 220;
const STYLE_SHEET = "/vendor/uplot.css";

/** Loads the library and its style sheet, once. */
async function loadUPlot(): Promise<typeof UPlot> {
  if (!document.querySelector(`link[href="${STYLE_SHEET}"]`)) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: STYLE_SHEET }));
  }
  return (await import("uplot")).default;
}

/** Line chart with integers on the horizontal axis. */
export function Plot(props: PlotProps) {
  const library = useLoaded(loadUPlot, []);
  return html`<${Show} of=${library}>${(value: typeof UPlot) => html`<${LoadedPlot} ...${props} library=${value} />`}<//>`;
}

function LoadedPlot({ label, xLabel, xs, ys, library }: PlotProps & { library: typeof UPlot }) {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const line = { stroke: style.borderTopColor, width: 1 };
    const axis = { stroke: style.color, grid: line, ticks: line };
    const plot = new library(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        scales: { x: { time: false } },
        axes: [
          { ...axis, label: xLabel, incrs: [1, 2, 5, 10, 20, 50, 100, 1000] },
          { ...axis, size: 90 },
        ],
        series: [{ label: xLabel }, { label, stroke: style.color, width: 2, points: { show: true } }],
      },
      [[...xs], [...ys]],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [label, xs.join(), ys.join()]);
  return html`<div class="plot" ref=${container} role="img" aria-label=${`${label} over ${xLabel}, ${xs.length} points`}></div>`;
}
