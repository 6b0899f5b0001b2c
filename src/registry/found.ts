import type { JsonSchema } from '../contract/json.ts'
import type {
  Annotations,
  Example,
  FlagOptions,
  McpOptions,
  Permissions,
} from '../contract/manifest.ts'
import type { DeclaredError } from '../contract/errors.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import type { ChildCall } from './child/child-call.ts'

/** Who wins when two tools have one name, the strongest first. */
export const TIERS = ['in-process', 'manifest', 'local', 'executable', 'server'] as const
export type Tier = (typeof TIERS)[number]

/** What others say about a tool of theirs. It is data from outside: any text, any schema, perhaps hostile, perhaps wrong. */
export type ForeignFacts = {
  readonly title?: string
  /** Cut to one line of 200 characters; made from the description, or the name, where it is absent. */
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  /** Absent: unknown, so that any object is let through. */
  readonly inputSchema?: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: Annotations
  readonly examples?: readonly Example[]
  readonly errors?: { readonly [code: string]: DeclaredError }
  readonly positional?: readonly string[]
  readonly flags?: { readonly [field: string]: FlagOptions }
  /** Seconds. */
  readonly timeout?: number
  readonly dryRun?: boolean
  readonly streaming?: boolean
  readonly session?: boolean
  readonly permissions?: Permissions
  readonly mcp?: McpOptions
}

/** A tool that a source found. */
export type FoundTool = {
  /** The first half of its id. */
  readonly source: string
  readonly version?: string
  /** What its owner calls it: any text. */
  readonly name: string
  readonly tier: Tier
  /** How it was found, for people: 'fractalic manifest', 'simple json script', 'mcp server' ... */
  readonly kind: string
  /** The file, program or address behind it. */
  readonly location?: string
  readonly summary: string
  readonly tags: readonly string[]
  /** The definition that the one call pipeline runs, under a name that every surface can carry; `id` is what policies call it. Costly, so it is made when it is needed; throws CONFIG for what cannot be a tool. */
  define(name: string, id: string): ToolDefinition
  /** How it is started, for whoever supervises it himself; absent for tools that are no programs. Throws where its file is not the one that was found. */
  program?(): Promise<FoundProgram>
  /** What it does is done by other tools, and judged for each of them. */
  readonly composed?: true
}

/** A tool that is a program, as a supervisor needs it. */
export type FoundProgram = {
  /** Its variables are as they are written: `${NAME}` is what the host's environment says when it starts, and is not to be remembered. */
  readonly call: ChildCall
  /** What it may do, as its owner has written it, and the file in which that stands: it gets nothing else. Absent: nobody has said anything. */
  readonly permissions?: Permissions
  readonly manifest?: string
  /** It starts other tools, and may tell about its tasks. */
  readonly orchestrator?: true
  /** Arguments that make it test itself. */
  readonly selftest?: readonly string[]
}

/** A candidate that is not a tool, or a tool with something wrong about it. */
export type Problem = {
  readonly source: string
  readonly location: string
  /** A word for programs: 'slow', 'crashed', 'not-json', 'outside', 'duplicate', 'dead', 'yaml' ... */
  readonly reason: string
  readonly message: string
  /** What to do about it, ready to paste where that is possible. */
  readonly fix: string
  /** `error` keeps a tool out, `warning` does not. */
  readonly severity: 'error' | 'warning'
}

/** Everything that a source found. */
export type Loaded = {
  readonly tools: readonly FoundTool[]
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  readonly problems?: readonly Problem[]
}
