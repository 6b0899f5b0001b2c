import type { ToolRow } from '../../../../src/views/model/api.ts'
import { toolPath } from '../../parts/links.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Badge, Symbol } from '../../parts/state-badge.tsx'
import { Dash, Table } from '../../parts/table.tsx'
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

/** The table of tools, with how they did in the last week. */
export function ToolTable({ rows }: { readonly rows: readonly ToolRow[] }) {
  return (
    <div class="card">
      <Table
        class="roomy"
        label="Tools"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { head: 'Tool', class: 'wide wrap', cell: (row) => <Name row={row} /> },
          {
            head: 'Source',
            cell: ({ location, source, kind }) => (
              <>
                <span title={location}>{source}</span>
                <br />
                <span class="dim">{kind}</span>
              </>
            ),
          },
          { head: 'Version', class: 'number', cell: ({ version }) => version ?? <Dash /> },
          { head: 'Health', class: 'wrap', cell: ({ health }) => <Health health={health} /> },
          {
            head: 'Permissions',
            cell: ({ permissions }) => <Permissions of={permissions} most={MOST_PERMISSIONS} />,
          },
          { head: 'Last week', cell: (row) => <Week row={row} /> },
          {
            head: 'p50',
            title: 'Half of the runs were faster',
            class: 'right',
            cell: ({ p50_s: seconds }) => <Took seconds={seconds} />,
          },
        ]}
      />
    </div>
  )
}

function Name({ row }: { readonly row: ToolRow }) {
  return (
    <>
      <a class="subject" href={toolPath(row.id)}>
        {row.name}
      </a>
      <Kinds row={row} />
      <br />
      <span class="dim">{row.summary}</span>
    </>
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

/** Whether a tool is destructive or read-only. */
export function Kinds({ row }: { readonly row: Pick<ToolRow, 'destructive' | 'readonly'> }) {
  if (row.destructive)
    return (
      <Badge role="bad" symbol="!" small>
        destructive
      </Badge>
    )
  return row.readonly ? (
    <Badge role="dim" symbol="◎" small>
      read-only
    </Badge>
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
          <Symbol>{SYMBOLS[one.split(' ')[0]!] ?? '·'}</Symbol> {one}
        </li>
      ))}
      {of.length > most && <li class="dim">and {of.length - most} more</li>}
    </ul>
  )
}
