/**
 * Probes programs without a manifest, in parallel and in a sandbox.
 */

import { availableParallelism } from 'node:os'
import { MINUTE_MS } from '../../util/units.ts'
import { compact } from '../../util/values.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ProbeCandidate, ProbeOptions, ProbeRefusal, ProbeVerdict } from '../probe/ask.ts'
import { isLastingVerdict } from '../probe/ask.ts'
import { probe } from '../probe/probe.ts'
import { toSurpriseRefusal } from '../probe/refusals.ts'
import type { LoadContext } from '../source.ts'
import type { FolderCandidate } from './candidates.ts'
import { getRunner } from './candidates.ts'
import type { Classification, UnknownProgram } from './classify.ts'
import { toOutlinedTool } from './outline.ts'

const KIND_BY_FORM = {
  discover: 'toolable executable',
  'multi-schema': 'schema dump',
  schema: 'schema dump',
  simple: 'simple json script',
  help: 'program by its help',
} as const
// The machine may have been busy, or a package may be installed by now.
const TRANSIENT_LIFETIME_MS = 10 * MINUTE_MS
const TRANSIENT_REASONS = new Set(['slow', 'crashed', 'not-started', 'needs-permission'])

/** Asks programs what they are, in a sandbox, and reports each answer as it comes. */
export async function probePrograms(
  programs: readonly UnknownProgram[],
  help: boolean,
  { env, probe: settings, signal }: LoadContext,
  onClassified: (candidate: FolderCandidate, classification: Classification) => void,
): Promise<void> {
  const readHelp = help ? (await import('../help/read-help.ts')).readProgramHelp : undefined
  const candidates = new Map<ProbeCandidate, FolderCandidate>()
  for (const { candidate, command } of programs) {
    const { path, name } = candidate
    const kind = getRunner(path) === 'exec' ? 'executable' : 'script'
    candidates.set({ path, command, name, kind, help }, candidate)
  }
  const options = { ...settings, env, signal, ...compact({ readHelp }) }
  await probeAll([...candidates.keys()], options, (probed, verdict) => {
    const candidate = candidates.get(probed)!
    onClassified(candidate, toClassification(candidate, probed.command, verdict))
  })
}

function toClassification(
  { key }: FolderCandidate,
  command: ChildCall['command'],
  verdict: ProbeVerdict,
): Classification {
  if (verdict.kind === 'not-a-tool') {
    const { reason, fix } = verdict
    const message = `${key}: ${verdict.message}`
    const until = getExpiry(verdict)
    return { outline: compact({ is: 'problem', reason, message, fix, until }), body: '' }
  }
  const { form, version, tools, resources, prompts } = verdict
  const warnings = verdict.warnings.map(({ reason, message, fix }) => ({
    reason,
    message: `${key}: ${message}`,
    fix,
  }))
  return {
    outline: compact({
      is: 'tools',
      how: KIND_BY_FORM[form],
      tier: form === 'discover' ? 'executable' : 'local',
      tools: tools.map(({ name, facts }) => toOutlinedTool(name, facts)),
      version,
      warnings: warnings.length > 0 ? warnings : undefined,
      more: resources.length + prompts.length > 0 || undefined,
    }),
    body: JSON.stringify({ tools, command, resources, prompts }),
  }
}

// 0 for a verdict about this moment only, undefined for one that lasts until the file changes.
function getExpiry(refusal: ProbeRefusal): number | undefined {
  if (!isLastingVerdict(refusal)) return 0
  return TRANSIENT_REASONS.has(refusal.reason) ? Date.now() + TRANSIENT_LIFETIME_MS : undefined
}

// More probes than slots, because those that wait for a silent child use no slot.
const EXTRA_WORKERS = 32

/**
 * Asks all candidates what they are, as many at the same time as there are cores, and reports each
 * verdict as it comes. Never throws: an error of one candidate is its verdict.
 */
export async function probeAll(
  candidates: readonly ProbeCandidate[],
  options: ProbeOptions,
  onVerdict: (candidate: ProbeCandidate, verdict: ProbeVerdict) => void,
): Promise<void> {
  const { concurrency = availableParallelism() } = options
  const rest = candidates.values()
  const work = async (): Promise<void> => {
    for (const candidate of rest)
      onVerdict(candidate, await probe(candidate, options).catch(toSurpriseRefusal))
  }
  const workers = Math.min(candidates.length, concurrency + EXTRA_WORKERS)
  await Promise.all(Array.from({ length: workers }, work))
}
