import { useState } from 'preact/hooks'
import type { DoctorReport } from '../../../src/views/model/api.ts'
import { formatBytes } from '../../../src/views/model/format-bytes.ts'
import { ActionButton, CopyButton } from '../parts/buttons.tsx'
import { Missing } from '../parts/notes.tsx'
import { Badge } from '../parts/state-badge.tsx'
import { announce } from '../state/announce.ts'
import { post } from '../state/api.ts'
import { useDocument } from '../state/resource.ts'
import type { ScreenProps } from './table.tsx'

const LOOKS = {
  ok: ['ok', '✓', 'ok'],
  missing: ['warn', '○', 'missing'],
  broken: ['bad', '✗', 'broken'],
} as const

/** The screen Doctor: how this machine and this project are, and what mends them. */
export default function DoctorScreen(_: ScreenProps) {
  const { value, error, loading, reload } = useDocument<DoctorReport>('/doctor')
  if (!value) return <Missing error={error} what="Looking at this machine" />
  return (
    <>
      <div class="title-row">
        <h1>Doctor</h1>
        <Badge role={value.enough ? 'ok' : 'warn'} symbol={value.enough ? '✓' : '!'}>
          tools are held at level {value.level}
          {value.enough ? '' : ', which is too little for some'}
        </Badge>
        <span class="push line">
          <span class="dim">
            toolable {value.version} · Node {value.node}
          </span>
          <button type="button" disabled={loading} aria-busy={loading} onClick={reload}>
            Look again
          </button>
        </span>
      </div>
      <div class="masonry">
        {group(value.findings).map(([part, findings]) => (
          <Part key={part} part={part} findings={findings} />
        ))}
        <Disk disk={value.disk} onCleaned={reload} />
        <Agents agents={value.agents} />
      </div>
    </>
  )
}

type Findings = DoctorReport['findings']

function Part({ part, findings }: { readonly part: string; readonly findings: Findings }) {
  return (
    <section class="card" aria-label={part}>
      <h2 class="sentence">{part}</h2>
      <ul class="findings">
        {findings.map(({ id, status, found, fix }) => (
          <Finding key={id} look={LOOKS[status]} name={id} found={found} fix={fix} />
        ))}
      </ul>
    </section>
  )
}

function group(findings: Findings): readonly (readonly [string, Findings])[] {
  const groups = new Map<string, Findings>()
  for (const finding of findings)
    groups.set(finding.part, [...(groups.get(finding.part) ?? []), finding])
  return [...groups]
}

/** What the runs take on the disk, and a button that removes the old ones. */
export function Disk({
  disk: { folder, runs, bytes, old },
  onCleaned,
}: Pick<DoctorReport, 'disk'> & { onCleaned(): void }) {
  const [days, setDays] = useState(String(old.days))
  const [done, setDone] = useState('')
  const wanted = Number(days)
  const isNumber = /^[1-9]\d*$/.test(days.trim())
  const clean = async (): Promise<void> => {
    const removed = await post<{ readonly removed: number; readonly bytes: number }>(
      '/doctor/clean',
      { days: wanted },
    )
    const text = `${count(removed.removed)} removed, ${formatBytes(removed.bytes)} freed`
    setDone(text)
    announce(text)
    onCleaned()
  }
  return (
    <section class="card stack" aria-label="Disk">
      <h2>Disk</h2>
      <p>
        {count(runs)} take <strong>{formatBytes(bytes)}</strong> in <code>{folder}</code>
      </p>
      <p class="dim">
        {old.runs === 0
          ? `None is older than ${old.days} days.`
          : `${count(old.runs)} older than ${old.days} days: ${formatBytes(old.bytes)}.`}{' '}
        Live runs always stay.
      </p>
      <div class="line">
        <label>
          Remove runs that ended more than{' '}
          <input
            class="days"
            aria-label="Days"
            inputmode="numeric"
            value={days}
            aria-invalid={!isNumber}
            onInput={({ currentTarget }) => setDays(currentTarget.value)}
          />{' '}
          days ago
        </label>
        <ActionButton
          danger
          label="Clean up"
          disabled={!isNumber}
          confirm={`Remove all runs that ended more than ${wanted} days ago, with their artifacts?`}
          run={clean}
        />
      </div>
      <p role="status" class="ok">
        {done}
      </p>
    </section>
  )
}

function count(runs: number): string {
  return runs === 1 ? '1 run' : `${runs} runs`
}

function describeAgent(
  isFound: boolean,
  isInstalled: boolean,
): Pick<FindingProps, 'look' | 'found'> {
  if (isInstalled) return { look: ['ok', '✓', 'installed'], found: 'knows the tools' }
  if (isFound) return { look: ['warn', '!', 'found'], found: 'does not know the tools yet' }
  return { look: ['dim', '○', 'not here'], found: '' }
}

/** Which agents this machine has, and whether they know the tools. */
export function Agents({ agents }: Pick<DoctorReport, 'agents'>) {
  return (
    <section class="card" aria-label="Agents">
      <h2>Agents</h2>
      <ul class="findings">
        {agents.map(({ name, found, installed, command }) => (
          <Finding
            key={name}
            name={name}
            fix={installed ? undefined : command}
            {...describeAgent(found, installed)}
          />
        ))}
      </ul>
    </section>
  )
}

type FindingProps = {
  readonly look: readonly [role: string, symbol: string, word: string]
  readonly name: string
  readonly found: string
  readonly fix?: string | undefined
}

/** Something that was found, and what mends it. */
export function Finding({ look: [role, symbol, word], name, found, fix }: FindingProps) {
  return (
    <li>
      <span class={role}>
        <span aria-hidden="true">{symbol}</span> {word}
      </span>
      <div>
        <strong>{name}</strong> <span class="dim">{found}</span>
        {fix !== undefined && (
          <p class="fix">
            <code>{fix}</code>
            <CopyButton label="Copy fix" text={fix} />
          </p>
        )}
      </div>
    </li>
  )
}
