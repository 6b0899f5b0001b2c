import type { DoctorReport } from '../../../../src/views/model/api.ts'
import { Loading, Problem } from '../../parts/notes.tsx'
import { useDocument } from '../../state/resource.ts'
import type { ScreenProps } from '../screen.ts'
import { Agents } from './agents.tsx'
import { Disk } from './disk.tsx'
import { Finding } from './finding.tsx'

const LOOKS = {
  ok: ['ok', '✓', 'ok'],
  missing: ['warn', '○', 'missing'],
  broken: ['bad', '✗', 'broken'],
} as const

/** The screen Doctor: how this machine and this project are, and what mends them. */
export function DoctorScreen(_: ScreenProps) {
  const { value, error, loading, reload } = useDocument<DoctorReport>('/doctor')
  if (!value) return error ? <Problem error={error} /> : <Loading what="Looking at this machine" />
  return (
    <>
      <div class="title-row">
        <h1>Doctor</h1>
        <span class={`badge ${value.enough ? 'ok' : 'warn'}`}>
          <span class="symbol" aria-hidden="true">
            {value.enough ? '✓' : '!'}
          </span>
          tools are held at level {value.level}
          {value.enough ? '' : ', which is too little for some'}
        </span>
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
