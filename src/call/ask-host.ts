import type { Answerer, RootsProvider, Sampler } from '../contract/interaction.ts'

/** What asking needs from the running call. */
export type AskHost = {
  /** Who asks: `tool 'deploy'`. */
  readonly asker: string
  readonly answer: Answerer | undefined
  readonly sample: Sampler | undefined
  readonly roots: RootsProvider | undefined
  readonly cwd: string
  signal(): AbortSignal
  /** Waits for somebody, with the deadline standing still. */
  wait<T>(work: () => Promise<T>): Promise<T>
  /** Prepares a question. Whoever asked first is ready first, however long it takes: answers to questions without a key are told apart by their order. */
  inOrder<T>(prepare: () => T | Promise<T>): Promise<T>
}
