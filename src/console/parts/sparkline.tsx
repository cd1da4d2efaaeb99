/** The last values as a line: its shape only; the number stands beside it. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const highest = Math.max(1e-9, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values
    .map(
      (value, index) => `${(index * step).toFixed(1)},${(22 - (value / highest) * 20).toFixed(1)}`,
    )
    .join('L');
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.length > 1 && <path d={`M${points}`} />}
    </svg>
  );
}
