import { interpretWorkflow } from '../../../src/workflow/interpreter.ts'
import { ExecutionCancelledError } from '../../../src/workflow/engine.ts'
import type {
  PendingOperation,
  DurableContext,
  DurableOperation,
  OperationOutcome,
  StepError,
  StepToolCall,
  WorkflowEvent,
  WorkflowQuestion,
} from '../../../src/workflow/engine.ts'
import type { Workflow } from '../../../src/workflow/definition/model.ts'

export type Entry =
  { readonly key: string; readonly settled: OperationOutcome } | { readonly cancel: string }
export class Crash extends Error {}

export type Simulation = {
  readonly journal: Entry[]
  /** What a tool gives; default: its name and what it got. */
  readonly tool?: (call: StepToolCall) => OperationOutcome | 'hangs'
  readonly answer?: (id: string, question: WorkflowQuestion) => unknown
  /** Which of so many live operations ends next; default: the first. */
  readonly pick?: (count: number) => number
  /** The engine dies instead of writing this entry. */
  readonly crashAt?: number
  /** Somebody cancels after so many entries. */
  readonly cancelAt?: number
  readonly launched?: string[]
  readonly aborted?: string[]
  readonly events?: WorkflowEvent[]
}

type Live = PendingOperation & { launched: boolean; abortedBy: StepError | undefined }

/**
 * An engine without time: what can end next is a matter of choice, and it can die and come back at
 * every entry of its journal.
 */
export function simulate(
  workflow: Workflow,
  input: unknown,
  simulation: Simulation,
): Promise<OperationOutcome> {
  const { journal, pick = () => 0, crashAt = Infinity, launched = [], aborted = [] } = simulation
  let position = 0
  const keys = new Set<string>()
  const write = (entry: Entry): void => {
    if (journal.length >= crashAt) throw new Crash()
    journal.push(entry)
    position += 1
  }
  const context: DurableContext = {
    id: 'r-0123456789',
    begin(operation) {
      if (keys.has(operation.key)) throw new Error(`the key '${operation.key}' is used twice`)
      keys.add(operation.key)
      const live: Live = {
        operation,
        launched: false,
        abortedBy: undefined,
        abort(error) {
          live.abortedBy ??= error
          aborted.push(operation.key)
        },
      }
      return live
    },
    async first(begun) {
      const entry = journal[position]
      if (entry) {
        position += 1
        if ('cancel' in entry) throw new ExecutionCancelledError(entry.cancel)
        const found = begun.find(({ operation }) => operation.key === entry.key)
        if (!found)
          throw new Error(
            `the journal goes on with '${entry.key}', and nobody waits for it but for ${begun.map(({ operation }) => operation.key).join(', ')}`,
          )
        return { begun: found, settled: entry.settled }
      }
      if (journal.length === simulation.cancelAt) {
        write({ cancel: 'enough' })
        throw new ExecutionCancelledError('enough')
      }
      for (const one of begun as Live[]) {
        if (!one.launched) launched.push(one.operation.key)
        one.launched = true
      }
      const able = (begun as readonly Live[]).filter(
        (one) => one.abortedBy !== undefined || outcomeOf(one.operation, simulation) !== 'hangs',
      )
      // Time passes only where nothing else can happen.
      const ready = able.filter(
        ({ operation, abortedBy }) => operation.kind !== 'sleep' || abortedBy,
      )
      const chosen = (ready.length > 0 ? ready : able)[
        pick((ready.length > 0 ? ready : able).length)
      ]
      if (!chosen)
        throw new Error(
          `nothing can happen: ${begun.map(({ operation }) => operation.key).join(', ')}`,
        )
      const settled: OperationOutcome = chosen.abortedBy
        ? { ok: false, error: chosen.abortedBy }
        : (outcomeOf(chosen.operation, simulation) as OperationOutcome)
      write({ key: chosen.operation.key, settled })
      return { begun: chosen, settled }
    },
    emit: (event) => simulation.events?.push(event),
  }
  return interpretWorkflow(workflow, input, context)
}

function outcomeOf(
  operation: DurableOperation,
  { tool = echo, answer = () => 'hangs' }: Simulation,
): OperationOutcome | 'hangs' {
  if (operation.kind === 'sleep') return { ok: true, value: null }
  if (operation.kind === 'tool') return tool(operation.call)
  const value = answer(operation.question.id, operation.question)
  return value === 'hangs' ? 'hangs' : { ok: true, value }
}

function echo({ tool, given }: StepToolCall): OperationOutcome {
  return { ok: true, value: { tool, ...given } }
}

export const failed = (code: string, retryable = false): OperationOutcome => ({
  ok: false,
  error: { code, message: `it was ${code}`, retryable },
})
