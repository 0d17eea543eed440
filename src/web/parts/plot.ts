import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";

interface PlotProps {
  label: string;
  xLabel: string;
  xs: readonly number[];
  ys: readonly number[];
}

const HEIGHT = 220;

/** Line chart over integers. */
export function Plot({ label, xLabel, xs, ys }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const line = { stroke: style.borderTopColor, width: 1 };
    const axis = { stroke: style.color, grid: line, ticks: line };
    const plot = new UPlot(
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
  return html`<div class="plot" ref=${place} role="img" aria-label=${`${label} over ${xLabel}, ${xs.length} points`}></div>`;
}
