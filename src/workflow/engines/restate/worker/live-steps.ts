import { ToolError } from '../../../../contract/tool-error.ts'
import type { PerformTool, Settled } from '../../engine-type.ts'
import type { StepRequest } from '../wire.ts'

const MOST_KEPT = 1000

type Live = { readonly done: Promise<Settled>; readonly controller: AbortController; isOver: boolean }

/**
 * The tools that this worker performs. A server that comes back, or changes its mind about who is alive, asks for a step again while its tool still runs:
 * then it gets the same one. What ended while nobody listened is kept until somebody asks.
 */
export class LiveSteps {
  private readonly lives = new Map<string, Live>()
  private readonly perform: PerformTool

  constructor(perform: PerformTool) {
    this.perform = perform
  }

  /** How many run now. */
  get running(): number {
    return [...this.lives.values()].filter(({ isOver }) => !isOver).length
  }

  /** Performs a step, or joins the one that is under way. */
  join(step: StepRequest): Promise<Settled> {
    const key = keyOf(step)
    const known = this.lives.get(key)
    if (known) return known.done
    const controller = new AbortController()
    const done = this.perform({ ...step, idempotencyKey: `${step.workflow}/${step.step}` }, controller.signal).catch(unexpected)
    const live: Live = { done, controller, isOver: false }
    this.lives.set(key, live)
    void done.then(() => {
      live.isOver = true
      this.forgetOldest()
    })
    return done
  }

  /** Ends a step; undefined where none is under way here. */
  stop(step: StepRequest): Promise<Settled> | undefined {
    const live = this.lives.get(keyOf(step))
    live?.controller.abort(new ToolError('CANCELLED', 'the step was cancelled'))
    return live?.done
  }

  /** The engine has what came of it. */
  forget(step: StepRequest): void {
    this.lives.delete(keyOf(step))
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    while (this.running > 0) await Promise.all([...this.lives.values()].map(({ done }) => done))
  }

  // Results that no server ever asked for again would fill the memory.
  private forgetOldest(): void {
    if (this.lives.size <= MOST_KEPT) return
    for (const [key, { isOver }] of this.lives) if (isOver) return void this.lives.delete(key)
  }
}

function keyOf({ workflow, step, attempt }: StepRequest): string {
  return `${workflow}/${step}#${attempt}`
}

function unexpected(error: unknown): Settled {
  return { ok: false, error: { code: 'INTERNAL', message: `the worker failed: ${error instanceof Error ? error.message : String(error)}`, retryable: false } }
}
