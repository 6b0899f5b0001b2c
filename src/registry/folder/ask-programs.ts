import { probeAll } from '../probe/probe-all.ts'
import { isLasting } from '../probe/verdict.ts'
import type { Candidate as Probed, Verdict } from '../probe/verdict.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { LoadContext } from '../source.ts'
import type { Candidate } from './candidate.ts'
import type { Judgement } from './judge.ts'
import { listTool } from './outline.ts'
import { runnerOf } from './runner.ts'

/** A program that nothing is written about. */
export type Asked = { readonly candidate: Candidate; readonly command: ChildCall['command'] }

const HOW = {
  discover: 'toolable executable',
  'multi-schema': 'schema dump',
  schema: 'schema dump',
  simple: 'simple json script',
  help: 'program by its help',
} as const
// The machine may have been busy, or a package may be installed by now.
const SHORT_LIFE_MS = 10 * 60 * 1000
const OF_THE_MOMENT = new Set(['slow', 'crashed', 'not-started', 'needs-permission'])

/** Asks programs what they are, bounded and held in a sandbox, and tells each answer as it comes. */
export async function askPrograms(
  programs: readonly Asked[],
  help: boolean,
  { env, probe, signal }: LoadContext,
  onJudgement: (candidate: Candidate, judgement: Judgement) => void,
): Promise<void> {
  const candidates = new Map<Probed, Candidate>(
    programs.map(({ candidate, command }) => [
      {
        path: candidate.path,
        command,
        name: candidate.name,
        kind: runnerOf(candidate.path) === 'exec' ? 'executable' : 'script',
        help,
      },
      candidate,
    ]),
  )
  const readHelp = help ? (await import('../help/program-facts.ts')).readProgramHelp : undefined
  await probeAll(
    [...candidates.keys()],
    { ...probe, env, signal, ...(readHelp && { readHelp }) },
    (probed, verdict) =>
      onJudgement(candidates.get(probed)!, judgementOf(candidates.get(probed)!, probed, verdict)),
  )
}

function judgementOf({ key }: Candidate, { command }: Probed, verdict: Verdict): Judgement {
  if (verdict.kind === 'not-a-tool') {
    const until = !isLasting(verdict)
      ? 0
      : OF_THE_MOMENT.has(verdict.reason)
        ? Date.now() + SHORT_LIFE_MS
        : undefined
    return {
      outline: {
        is: 'problem',
        reason: verdict.reason,
        message: `${key}: ${verdict.message}`,
        fix: verdict.fix,
        ...(until !== undefined && { until }),
      },
      body: '',
    }
  }
  const { form, version, tools, resources, prompts, warnings } = verdict
  return {
    outline: {
      is: 'tools',
      how: HOW[form],
      tier: form === 'discover' ? 'executable' : 'local',
      tools: tools.map(({ name, facts }) => listTool(name, facts)),
      ...(version !== undefined && { version }),
      ...(warnings.length > 0 && {
        warnings: warnings.map(({ reason, message, fix }) => ({
          reason,
          message: `${key}: ${message}`,
          fix,
        })),
      }),
      ...(resources.length + prompts.length > 0 && { more: true }),
    },
    body: JSON.stringify({ tools, command, resources, prompts }),
  }
}
