import type { JsonSchema } from '../../../contract/json.ts'
import type { Annotations, Example } from '../../../contract/manifest.ts'

/** How a program ended, and all that it said. */
export type Ran = {
  readonly args: readonly string[]
  /** Null where it did not end by itself. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Milliseconds. */
  readonly duration: number
  /** It had to be ended, or could not be started. */
  readonly trouble?: string
}

export type AskOptions = {
  /** Variables besides the few that every run gets. */
  readonly env?: { readonly [name: string]: string }
  /** Not from memory, although the same was asked before. */
  readonly again?: true
  /** Nobody reads stdout. */
  readonly unread?: true
}

/** How the program tells what it is. */
export type Speech = 'discover' | 'dump' | 'multi-dump' | 'simple' | 'nothing'

/** A tool as its program describes it. */
export type DescribedTool = {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly inputSchema?: JsonSchema
  readonly annotations: Annotations
  readonly examples: readonly Example[]
}

/** A program that is looked at. */
export type Subject = {
  /** The file as it was named. */
  readonly path: string
  /** Interpreter and file. */
  readonly command: readonly [program: string, ...args: string[]]
  readonly speech: Speech
  /** The answer by which it was found to speak. */
  readonly discovery: Ran
  readonly tools: readonly DescribedTool[]
  /** Runs it with closed stdin in an empty folder; the same question is asked once. */
  ask(args: readonly string[], options?: AskOptions): Promise<Ran>
  /** All that it was asked so far. */
  readonly runs: readonly Ran[]
  /** Milliseconds that its interpreter alone needs right now, in the same surroundings. */
  bareStart(): Promise<number>
  /** Nothing that it does can change anything. */
  readonly contained: boolean
  /** The user allows calls of its tools. */
  readonly mayCall: boolean
}
