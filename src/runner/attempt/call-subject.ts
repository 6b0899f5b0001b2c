import { acor } from '../../contract/dialects/acor.ts'
import type { DialectContext } from '../../contract/dialects/dialect.ts'
import { exitCodeOf } from '../../contract/errors.ts'
import type { Interaction } from '../../contract/interaction.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { ToolLine } from '../output/judge-line.ts'
import type { Subject, SubjectListener } from './subject.ts'

export type CallSubjectOptions = {
  readonly registry: Pick<Registry, 'call'>
  readonly tool: string
  readonly input: JsonObject
  readonly runId: string
  readonly dryRun?: true
  readonly env?: { readonly [name: string]: string | undefined }
  readonly secrets: { readonly [name: string]: string }
  readonly cwd: string
}

/** Calls a tool that is no program of ours: of an MCP server, of a module, behind an address. What it tells becomes the lines of the protocol. */
export function startCall(
  { registry, tool, input, runId, dryRun, env, secrets, cwd }: CallSubjectOptions,
  listener: SubjectListener,
): Subject {
  const context: DialectContext = { tool, runId, now: () => new Date().toISOString(), input }
  const stop = new AbortController()
  const waiting = new Map<string, (value: unknown) => void>()
  const tell = (line: object | undefined): void => {
    if (line) listener.onLine(line as ToolLine)
  }
  const ask = (question: Interaction): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(question.id, resolve)
      tell(acor.question(question, context))
    })
  tell(acor.start(context))
  const end = registry
    .call(tool, input, {
      cwd,
      ...(dryRun && { dryRun }),
      ...(env && { env }),
      secrets,
      signal: stop.signal,
      onEvent: (event) =>
        tell(event.type === 'tool_invoked' ? undefined : acor.event(event, context)),
      answer: ask,
      sample: async ({ id, prompt, key, ...sampling }) =>
        String(
          await ask({ id, kind: 'sample', prompt, sampling, ...(key !== undefined && { key }) }),
        ),
    })
    .then((outcome) => {
      for (const line of acor.outcome(outcome, context)) tell(line as object)
      return {
        child: {
          reason: stop.signal.aborted ? ('cancelled' as const) : ('exited' as const),
          status: outcome.ok ? 0 : exitCodeOf(outcome.error, 'json'),
          signal: null,
        },
        speaksProtocol: true,
        stdout: Buffer.alloc(0),
        stderr: '',
      }
    })
  return {
    pid: undefined,
    answer: ({ id, value, content }) => {
      waiting.get(String(id))?.(value === undefined ? content : value)
      waiting.delete(String(id))
    },
    hangUp() {
      for (const resolve of waiting.values()) resolve(undefined)
      waiting.clear()
    },
    stop: () => stop.abort(),
    end,
  }
}
