import { ToolError } from '../../../../contract/tool-error.ts'
import type { Settled, WorkflowQuestion } from '../../engine-type.ts'
import type { StepRequest } from '../wire.ts'

/** Performs a tool, and asks whatever it asks. Never rejects. */
export type PerformStep = (
  call: StepRequest & { readonly idempotencyKey: string },
  signal: AbortSignal,
  ask: (
    question: WorkflowQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly value: unknown } | undefined>,
) => Promise<Settled>

/** What a step came to, or what it has to know before it goes on. */
export type StepNews = { readonly settled: Settled } | { readonly asks: WorkflowQuestion }

type Live = {
  readonly done: Promise<Settled>
  readonly controller: AbortController
  readonly asked: Map<
    string,
    {
      readonly question: WorkflowQuestion
      readonly resolve: (answer: { readonly value: unknown }) => void
    }
  >
  isOver: boolean
  /** Resolves when it asks something more. */
  asking: Promise<void>
  wake: () => void
}

const MOST_KEPT = 1000

/**
 * The tools that this worker performs. A server that comes back, or changes its mind about who is alive, asks for a step again while its tool still runs:
 * then it gets the same one. What ended while nobody listened is kept until somebody asks.
 */
export class LiveSteps {
  private readonly lives = new Map<string, Live>()
  private readonly answers = new Map<string, Map<string, unknown>>()
  private readonly perform: PerformStep
  private onIdle: () => void = () => undefined

  constructor(perform: PerformStep) {
    this.perform = perform
  }

  /** Performs a step, or joins the one that is under way, until it ends or asks something that is not among `known`. */
  async join(step: StepRequest, known: readonly string[]): Promise<StepNews> {
    const live = this.lives.get(keyOf(step)) ?? this.begin(step)
    for (;;) {
      const more = [...live.asked.values()].find(({ question }) => !known.includes(question.id))
      if (more) return { asks: more.question }
      const settled = await Promise.race([live.done, live.asking])
      if (settled) return { settled }
    }
  }

  /** An answer to what a step asks. It is kept for a tool that asks the same later. */
  give(step: StepRequest, question: string, value: unknown): void {
    const key = keyOf(step)
    const given = this.answers.get(key) ?? new Map<string, unknown>()
    this.answers.set(key, given.set(question, value))
    const asked = this.lives.get(key)?.asked
    asked?.get(question)?.resolve({ value })
    asked?.delete(question)
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
    this.answers.delete(keyOf(step))
    if (this.lives.size === 0) this.onIdle()
  }

  /** Resolves when nothing runs any more, and the engine has what came of it. */
  idle(): Promise<void> {
    if (this.lives.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.onIdle = resolve))
  }

  private begin(step: StepRequest): Live {
    const key = keyOf(step)
    const controller = new AbortController()
    const asked: Live['asked'] = new Map()
    const ask = (
      question: WorkflowQuestion,
      signal: AbortSignal,
    ): Promise<{ readonly value: unknown } | undefined> => {
      const given = this.answers.get(key)
      // An answer that the tool refused will not be another one for being given again.
      if (given?.has(question.id))
        return Promise.resolve(
          question.problem === undefined ? { value: given.get(question.id) } : undefined,
        )
      return new Promise((resolve) => {
        asked.set(question.id, { question, resolve })
        signal.addEventListener(
          'abort',
          () => {
            asked.delete(question.id)
            resolve(undefined)
          },
          { once: true },
        )
        const { wake } = live
        sleep(live)
        wake()
      })
    }
    const done = Promise.resolve()
      .then(() =>
        this.perform(
          { ...step, idempotencyKey: `${step.workflow}/${step.step}` },
          controller.signal,
          ask,
        ),
      )
      .catch(unexpected)
    const live: Live = sleep({ done, controller, asked, isOver: false } as Live)
    this.lives.set(key, live)
    void done.then(() => {
      live.isOver = true
      this.forgetOldest()
    })
    return live
  }

  // Results that no server ever asked for again would fill the memory.
  private forgetOldest(): void {
    if (this.lives.size <= MOST_KEPT) return
    for (const [key, { isOver }] of this.lives) {
      if (!isOver) continue
      this.answers.delete(key)
      return void this.lives.delete(key)
    }
  }
}

function sleep(live: Live): Live {
  live.asking = new Promise((resolve) => (live.wake = resolve))
  return live
}

function keyOf({ workflow, step, attempt }: StepRequest): string {
  return `${workflow}/${step}#${attempt}`
}

function unexpected(error: unknown): Settled {
  return {
    ok: false,
    error: {
      code: 'INTERNAL',
      message: `the worker failed: ${error instanceof Error ? error.message : String(error)}`,
      retryable: false,
    },
  }
}
