interface WantedPackage {
  title: string;
  folder: string;
  size: string;
  manifest: { name: string; dependencies: Record<string, string>; overrides?: Record<string, string> };
  entry: readonly string[];
}

export function tryCachedPackage(
  wanted: WantedPackage,
): { program: string; problem?: undefined } | { program?: undefined; problem: string };
