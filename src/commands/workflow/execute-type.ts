import type { JsonObject } from '../../contract/json.ts'
import type { Workflow } from '../../workflow/definition/workflow-type.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'
import type { Surroundings } from '../config/load.ts'
import type { RunFlags } from '../run/request.ts'

/** A workflow that is to be executed, as the command line asks for it. */
export type WantedExecution = {
  readonly workflow: Workflow
  readonly input: JsonObject
  readonly file?: string
  readonly surroundings: Surroundings
  readonly id?: string
  readonly detach: boolean
  readonly wait: boolean
  readonly progress: ChosenProgress
  /** Executes it once for this key. */
  readonly key?: string
  readonly answers?: { readonly [key: string]: unknown }
  /** Which of them are text as it was typed. */
  readonly typedAnswers?: readonly string[]
  /** Seconds. */
  readonly timeout?: number
  /** Where the server of a distributed engine listens. */
  readonly ingress?: string
  /** Where that server is administered. */
  readonly admin?: string
}

/** Executes a workflow on an engine while its caller looks on; gives the exit status. */
export type Execute = (wanted: WantedExecution, context: BuiltinContext) => Promise<number>

/** What is said of an execution, as the flags of a resume say it. */
export function runFlagsOf({
  detach,
  wait,
  answers = {},
  surroundings: { config },
}: WantedExecution): RunFlags & { readonly config?: string } {
  return {
    detach,
    wait,
    answer: Object.entries(answers).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
    ...(config !== undefined && { config }),
  }
}
