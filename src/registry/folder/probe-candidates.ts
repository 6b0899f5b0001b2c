/**
 * Probes programs that nothing is written about, in parallel and in a sandbox.
 */

import { availableParallelism } from 'node:os'
import { compact } from '../../util/values.ts'
import type { ChildCall } from '../child/child-call.ts'
import { isLastingVerdict } from '../probe/ask.ts'
import type {
  ProbeCandidate,
  ProbeCandidate as Probed,
  ProbeOptions,
  ProbeVerdict,
} from '../probe/ask.ts'
import { probe } from '../probe/probe.ts'
import { toSurpriseRefusal } from '../probe/refusals.ts'
import type { LoadContext } from '../source.ts'
import { getRunner } from './candidates.ts'
import type { FolderCandidate } from './candidates.ts'
import type { Classification } from './classify.ts'
import { toOutlinedTool } from './outline.ts'

/** A program that nothing is written about. */
export type ProgramToProbe = {
  readonly candidate: FolderCandidate
  readonly command: ChildCall['command']
}

const KIND_BY_FORM = {
  discover: 'toolable executable',
  'multi-schema': 'schema dump',
  schema: 'schema dump',
  simple: 'simple json script',
  help: 'program by its help',
} as const
// The machine may have been busy, or a package may be installed by now.
const TRANSIENT_LIFETIME_MS = 10 * 60 * 1000
const TRANSIENT_REASONS = new Set(['slow', 'crashed', 'not-started', 'needs-permission'])

/**
 * Asks programs what they are, bounded and held in a sandbox, and tells each answer as it comes.
 */
export async function probePrograms(
  programs: readonly ProgramToProbe[],
  help: boolean,
  { env, probe, signal }: LoadContext,
  onJudgement: (candidate: FolderCandidate, judgement: Classification) => void,
): Promise<void> {
  const candidates = new Map<Probed, FolderCandidate>(
    programs.map(({ candidate, command }) => [
      {
        path: candidate.path,
        command,
        name: candidate.name,
        kind: getRunner(candidate.path) === 'exec' ? 'executable' : 'script',
        help,
      },
      candidate,
    ]),
  )
  const readHelp = help ? (await import('../help/read-help.ts')).readProgramHelp : undefined
  await probeAll(
    [...candidates.keys()],
    { ...probe, env, signal, ...compact({ readHelp }) },
    (probed, verdict) =>
      onJudgement(
        candidates.get(probed)!,
        toClassification(candidates.get(probed)!, probed, verdict),
      ),
  )
}

function toClassification(
  { key }: FolderCandidate,
  { command }: Probed,
  verdict: ProbeVerdict,
): Classification {
  if (verdict.kind === 'not-a-tool') {
    const until = !isLastingVerdict(verdict)
      ? 0
      : TRANSIENT_REASONS.has(verdict.reason)
        ? Date.now() + TRANSIENT_LIFETIME_MS
        : undefined
    return {
      outline: compact({
        is: 'problem',
        reason: verdict.reason,
        message: `${key}: ${verdict.message}`,
        fix: verdict.fix,
        until,
      }),
      body: '',
    }
  }
  const { form, version, tools, resources, prompts, warnings } = verdict
  return {
    outline: compact({
      is: 'tools',
      how: KIND_BY_FORM[form],
      tier: form === 'discover' ? 'executable' : 'local',
      tools: tools.map(({ name, facts }) => toOutlinedTool(name, facts)),
      version,
      warnings:
        warnings.length > 0
          ? warnings.map(({ reason, message, fix }) => ({
              reason,
              message: `${key}: ${message}`,
              fix,
            }))
          : undefined,
      more: resources.length + prompts.length > 0 || undefined,
    }),
    body: JSON.stringify({ tools, command, resources, prompts }),
  }
}

/**
 * Asks all candidates what they are, as many at the same time as there are cores, and tells each
 * verdict as soon as it is there. Never throws: whatever one of them does, the others are asked.
 */
export async function probeAll(
  candidates: readonly ProbeCandidate[],
  options: ProbeOptions,
  onVerdict: (candidate: ProbeCandidate, verdict: ProbeVerdict) => void,
): Promise<void> {
  const rest = candidates.values()
  // More probes than slots, because those that wait for a silent child hold no slot.
  const workers = Array.from(
    {
      length: Math.min(
        candidates.length,
        (options.concurrency ?? availableParallelism()) + EXTRA_WORKERS,
      ),
    },
    async () => {
      for (const candidate of rest)
        onVerdict(candidate, await probe(candidate, options).catch(toSurpriseRefusal))
    },
  )
  await Promise.all(workers)
}

const EXTRA_WORKERS = 32
