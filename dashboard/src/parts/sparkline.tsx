/** What came of the runs of some days, as little columns: the oldest first. */
export function Sparkline({
  days,
  label = 'Runs of the last days',
}: {
  readonly days: readonly { readonly ok: number; readonly failed: number }[]
  readonly label?: string
}) {
  const most = Math.max(1, ...days.map(({ ok, failed }) => ok + failed))
  const [ok, failed] = [
    days.reduce((sum, day) => sum + day.ok, 0),
    days.reduce((sum, day) => sum + day.failed, 0),
  ]
  const height = (amount: number): number => (amount === 0 ? 0 : Math.max(2, (amount / most) * 16))
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={`${label}: ${ok} ok, ${failed} failed`}
      width={days.length * 8}
      height={18}
      viewBox={`0 0 ${days.length * 8} 18`}
    >
      <title>{`${ok} ok, ${failed} failed`}</title>
      {days.map((day, index) => (
        <g key={index}>
          <rect class="ground" x={index * 8} y={17} width={6} height={1} />
          <rect
            class="ok"
            x={index * 8}
            y={17 - height(day.ok)}
            width={6}
            height={height(day.ok)}
          />
          <rect
            class="bad"
            x={index * 8}
            y={17 - height(day.ok) - height(day.failed)}
            width={6}
            height={height(day.failed)}
          />
        </g>
      ))}
    </svg>
  )
}
