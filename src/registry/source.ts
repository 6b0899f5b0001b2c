/**
 * What a source is, what it finds, and how `${NAME}` in its configuration is replaced.
 */

import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import { buildCallEnv } from '../process/environment.ts'
import type { Context } from '../protocol/context.ts'
import type { DeclaredError } from '../protocol/errors.ts'
import type { Answerer, Sampler } from '../protocol/events.ts'
import type {
  Annotations,
  Example,
  FlagOptions,
  McpOptions,
  Permissions,
} from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { asObject } from '../util/values.ts'
import type { ChildCall, ChildServices } from './child/child-call.ts'

/** What every source works with. */
export type LoadContext = {
  readonly cwd: string
  /**
   * The environment of the host: where programs are found, and what `${NAME}` in a configuration
   * means. Children never get it whole.
   */
  readonly env: { readonly [name: string]: string | undefined }
  /** Ask again even where the cache knows the answer. */
  readonly fresh: boolean
  /** Where the caches lie; undefined: nothing is remembered. */
  readonly cacheFolder: string | undefined
  readonly probe: ProbeSettings
  readonly signal: AbortSignal
}

type ProbeSettings = {
  /** Probing without a sandbox, on a machine that has none. Default false. */
  readonly unsandboxed: boolean
  /** Children at the same time; default: one for each core. */
  readonly concurrency?: number
}

/**
 * A place that tools come from. All sources have these few functions, and nobody asks which one it
 * is.
 */
export type ToolSource = {
  /** Unique among the sources of a registry. */
  readonly name: string
  /** What it is, for people: 'folder', 'mcp server', 'program' ... */
  readonly kind: string
  readonly location: string
  /**
   * Looks what is there now. Never throws: what does not work is a problem with a reason and a fix.
   * Called again by `rescan`.
   */
  load(context: LoadContext): Promise<LoadedSource>
  /** Loads the code that `define` of its tools needs, where a list does without it. */
  prepare?(): Promise<void>
  /** Tells that what `load` would give has changed. */
  onChange?(listener: () => void): void
  /** Ends what it keeps open: connections, warm programs. */
  close?(): Promise<void>
}

/** What the sources of one registry share. */
export type SourceHost = {
  readonly services: ChildServices
  /** Answers what a server asks outside of a call. */
  readonly answer?: Answerer
  readonly sample?: Sampler
}

/** Who wins when two tools have one name, the strongest first. */
export const TIERS = ['in-process', 'manifest', 'local', 'executable', 'server'] as const
export type Tier = (typeof TIERS)[number]

/**
 * What others say about a tool of theirs. It is data from outside: any text, any schema, perhaps
 * hostile, perhaps wrong.
 */
export type ForeignMetadata = {
  readonly title?: string
  /**
   * Cut to one line of 200 characters; made from the description, or the name, where it is absent.
   */
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

const ANNOTATION_NAMES = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const

/** The annotations among untrusted fields, whose names may have a suffix as in `readOnlyHint`. */
export function readAnnotations(fields: unknown, suffix: '' | 'Hint' = ''): Annotations {
  const given = asObject(fields) ?? {}
  return Object.fromEntries(
    ANNOTATION_NAMES.map((name) => [name, given[`${name}${suffix}`]]).filter(
      ([, hint]) => typeof hint === 'boolean',
    ),
  )
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
  /**
   * The definition that the one call pipeline runs, under a name that every surface can carry; `id`
   * is what policies call it. Costly, so it is made when it is needed; throws CONFIG for what
   * cannot be a tool.
   */
  define(name: string, id: string): ToolDefinition
  /**
   * How it is started, for whoever supervises it himself; absent for tools that are no programs.
   * Throws where its file is not the one that was found.
   */
  program?(): Promise<FoundProgram>
  /** What it does is done by other tools, and judged for each of them. */
  readonly composed?: true
}

/** A tool that is a program, as a supervisor needs it. */
export type FoundProgram = {
  /**
   * Its variables are as they are written: `${NAME}` is what the host's environment says when it
   * starts, and is not to be remembered.
   */
  readonly call: ChildCall
  /**
   * What it may do, as its owner has written it, and the file in which that stands: it gets nothing
   * else. Absent: nobody has said anything.
   */
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
  /**
   * A word for programs: 'slow', 'crashed', 'not-json', 'outside', 'duplicate', 'dead', 'yaml' ...
   */
  readonly reason: string
  readonly message: string
  /** What to do about it, ready to paste where that is possible. */
  readonly fix: string
  /** `error` keeps a tool out, `warning` does not. */
  readonly severity: 'error' | 'warning'
}

/** Everything that a source found. */
export type LoadedSource = {
  readonly tools: readonly FoundTool[]
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  readonly problems?: readonly Problem[]
}

/** The result of a source that cannot be read at all. */
export function toBrokenSource(
  source: string,
  location: string,
  reason: string,
  message: string,
  fix: string,
): LoadedSource {
  return { tools: [], problems: [{ source, location, reason, message, fix, severity: 'error' }] }
}

/** Everything in several results, in their order. */
export function joinLoaded(parts: readonly LoadedSource[]): LoadedSource {
  return {
    tools: parts.flatMap(({ tools }) => tools),
    resources: parts.flatMap(({ resources = [] }) => resources),
    prompts: parts.flatMap(({ prompts = [] }) => prompts),
    problems: parts.flatMap(({ problems = [] }) => problems),
  }
}

/** Collects problems of one source. The severity is `warning` unless told otherwise. */
export type ReportProblem = (
  reason: string,
  message: string,
  fix: string,
  severity?: Problem['severity'],
) => void

/** Creates a reporter that adds to `problems`. */
export function createReporter(
  source: string,
  location: string,
  problems: Problem[],
): ReportProblem {
  return (reason, message, fix, severity = 'warning') =>
    void problems.push({ source, location, reason, message, fix, severity })
}

type ExpansionEnv = { readonly [name: string]: string | undefined }

const VARIABLE_PATTERN = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

/**
 * Replaces `${NAME}` and `${NAME:-default}` by what the host's environment says; throws CONFIG,
 * naming `what`, for a variable that is not set and has no default.
 */
export function expandVariables(text: string, env: ExpansionEnv, what: string): string {
  return text.replace(VARIABLE_PATTERN, (_whole, name: string, byDefault: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    // An empty variable takes the default too, as in a shell.
    if (value !== undefined && (value !== '' || byDefault === undefined)) return value
    if (byDefault !== undefined) return byDefault
    throw new ToolError('CONFIG', `${what} needs the variable ${name}, which is not set`, {
      suggestion: `export ${name}=..., or write \${${name}:-default} in the configuration`,
    })
  })
}

/** The same for each value of an object of texts. */
export function expandValues(
  values: { readonly [name: string]: string } | undefined,
  env: ExpansionEnv,
  what: string,
): { readonly [name: string]: string } {
  const expanded: { [name: string]: string } = Object.create(null) as {}
  for (const [name, value] of Object.entries(values ?? {})) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw new ToolError('CONFIG', `'${name}' of ${what} must be a text`)
    expanded[name] = expandVariables(String(value), env, `'${name}' of ${what}`)
  }
  return expanded
}

/**
 * The whole environment of a child: the base allow-list, and its own variables. Throws CONFIG for
 * what is required and missing.
 */
export function buildChildEnv(call: ChildCall, ctx: Context): { [name: string]: string } {
  return { ...buildCallEnv(ctx.env), ...collectOwnVariables(call, ctx) }
}

/**
 * The variables of a child besides the base allow-list: what it requires by name, and what its
 * configuration gives. Throws CONFIG for what is required and missing.
 */
export function collectOwnVariables(
  { env = {}, requireEnv = [] }: Pick<ChildCall, 'env' | 'requireEnv'>,
  { env: host }: Pick<Context, 'env'>,
): { [name: string]: string } {
  const required: { [name: string]: string } = Object.create(null) as { [name: string]: string }
  const missing: string[] = []
  for (const name of requireEnv) {
    if (Object.hasOwn(env, name)) continue
    const value = Object.hasOwn(host, name) ? host[name] : undefined
    if (value === undefined) missing.push(name)
    else required[name] = value
  }
  if (missing.length > 0) {
    throw new ToolError(
      'CONFIG',
      `the tool needs ${missing.length === 1 ? 'the variable' : 'the variables'} ${missing.join(', ')} in the environment`,
      {
        details: { missing },
        suggestion: `export ${missing.map((name) => `${name}=…`).join(' ')}`,
      },
    )
  }
  return { PYTHONIOENCODING: 'utf-8', ...required, ...env }
}
