import type { ToolRow } from '../../../../src/views/model/api.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Took } from '../../parts/time.tsx'

const MOST_PERMISSIONS = 3
const HEALTH = {
  ok: ['ok', '✓', 'ok'],
  warning: ['warn', '!', 'warning'],
  broken: ['bad', '✗', 'broken'],
} as const
// By the first word of a permission.
const SYMBOLS: { readonly [word: string]: string } = {
  read: '◎',
  write: '✎',
  egress: '⇄',
  the: '⇄',
  nothing: '∅',
}

/** The address of a tool. */
export function toolPath(id: string): string {
  return `/tools/${encodeURIComponent(id)}`
}

/** The table of tools, with how they did in the last week. */
export function ToolTable({ rows }: { readonly rows: readonly ToolRow[] }) {
  return (
    <div class="card scroll-x">
      <table class="roomy" aria-label="Tools">
        <thead>
          <tr>
            <th class="wide">Tool</th>
            <th>Source</th>
            <th>Version</th>
            <th>Health</th>
            <th>Permissions</th>
            <th>Last week</th>
            <th class="right" title="Half of the runs were faster">
              p50
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td class="wide wrap">
                <a class="subject" href={toolPath(row.id)}>
                  {row.name}
                </a>
                <Kinds row={row} />
                <br />
                <span class="dim">{row.summary}</span>
              </td>
              <td>
                <span title={row.location}>{row.source}</span>
                <br />
                <span class="dim">{row.kind}</span>
              </td>
              <td class="number">{row.version ?? <span class="dim">–</span>}</td>
              <td class="wrap">
                <Health health={row.health} />
              </td>
              <td>
                <Permissions of={row.permissions} most={MOST_PERMISSIONS} />
              </td>
              <td>
                <Week row={row} />
              </td>
              <td class="right">
                <Took seconds={row.p50_s} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Week({ row: { id, name, week } }: { readonly row: ToolRow }) {
  const [ok, failed] = [
    week.reduce((sum, day) => sum + day.ok, 0),
    week.reduce((sum, day) => sum + day.failed, 0),
  ]
  return (
    <a
      class="week"
      href={`/runs?tool=${encodeURIComponent(id)}&since=7d`}
      aria-label={`Runs of ${name} in the last week: ${ok} ok, ${failed} failed`}
    >
      <Sparkline days={week} />
      <span class={failed > 0 ? 'number bad' : 'number dim'}>
        {failed > 0 ? `${failed} of ${ok + failed} failed` : ok}
      </span>
    </a>
  )
}

/** What kind of tool it is, where that matters to whoever runs it. */
export function Kinds({ row }: { readonly row: Pick<ToolRow, 'destructive' | 'readonly'> }) {
  if (row.destructive)
    return (
      <span class="badge small bad">
        <span class="symbol" aria-hidden="true">
          !
        </span>
        destructive
      </span>
    )
  return row.readonly ? (
    <span class="badge small dim">
      <span class="symbol" aria-hidden="true">
        ◎
      </span>
      read-only
    </span>
  ) : null
}

/** Whether a tool can be used, and why not. */
export function Health({ health: { state, reason } }: { readonly health: ToolRow['health'] }) {
  const [role, symbol, word] = HEALTH[state]
  return (
    <span class={role}>
      <span aria-hidden="true">{symbol}</span> {word}
      {reason !== undefined && <span class="reason">{reason}</span>}
    </span>
  )
}

/** What a tool may do, each with a symbol. */
export function Permissions({
  of,
  most = Infinity,
}: {
  readonly of: readonly string[] | undefined
  readonly most?: number
}) {
  if (of === undefined)
    return (
      <span class="dim" title="Its manifest declares none">
        not declared
      </span>
    )
  if (of.length === 0) return <span class="dim">none</span>
  return (
    <ul class="permissions" title={of.join('\n')}>
      {of.slice(0, most).map((one) => (
        <li>
          <span class="symbol" aria-hidden="true">
            {SYMBOLS[one.split(' ')[0]!] ?? '·'}
          </span>{' '}
          {one}
        </li>
      ))}
      {of.length > most && <li class="dim">and {of.length - most} more</li>}
    </ul>
  )
}
