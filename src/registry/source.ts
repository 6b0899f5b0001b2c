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

/** What every source gets for a load. */
export type LoadContext = {
  readonly cwd: string
  /**
   * The environment of the host: where programs are found, and what `${NAME}` in a configuration
   * means. Children never get all of it.
   */
  readonly env: { readonly [name: string]: string | undefined }
  /** Ignore the cache. */
  readonly fresh: boolean
  /** The cache folder. Undefined: nothing is cached. */
  readonly cacheFolder: string | undefined
  readonly probe: ProbeSettings
  readonly signal: AbortSignal
}

type ProbeSettings = {
  /** Probe without a sandbox on a machine that has none. Default false. */
  readonly unsandboxed: boolean
  /** Children at the same time; default: one for each core. */
  readonly concurrency?: number
}

/**
 * A place that tools come from. All sources have these few functions, and no caller depends on
 * which source it is.
 */
export type ToolSource = {
  /** Unique among the sources of a registry. */
  readonly name: string
  /** Its kind, for people: 'folder', 'mcp server', 'program' ... */
  readonly kind: string
  readonly location: string
  /**
   * Finds what the source has now. Never throws: what does not work is a problem with a reason and
   * a fix. Called again by `rescan`.
   */
  load(context: LoadContext): Promise<LoadedSource>
  /** Loads the code that `define` of its tools needs and a list does not. */
  prepare?(): Promise<void>
  /** Registers a listener for changes of what `load` would return. */
  onChange?(listener: () => void): void
  /** Closes connections and warm programs. */
  close?(): Promise<void>
}

/** What the sources of one registry share. */
export type SourceHost = {
  readonly services: ChildServices
  /** Answers what a server asks outside of a call. */
  readonly answer?: Answerer
  readonly sample?: Sampler
}

/** Which of two tools gets a name, the strongest first. */
export const TIERS = ['in-process', 'manifest', 'local', 'executable', 'server'] as const
export type Tier = (typeof TIERS)[number]

/**
 * What the owner of a foreign tool says about it. Untrusted: any text, any schema, perhaps
 * hostile, perhaps wrong.
 */
export type ForeignMetadata = {
  readonly title?: string
  /** Cut to one line of 200 characters. Default: made from the description or the name. */
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  /** Absent: unknown, any object is accepted. */
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
  /** The name its owner gave it: any text. */
  readonly name: string
  readonly tier: Tier
  /** How it was found, for people: 'fractalic manifest', 'simple json script', 'mcp server' ... */
  readonly kind: string
  /** Its file, program or address. */
  readonly location?: string
  readonly summary: string
  readonly tags: readonly string[]
  /**
   * Creates the definition that the call pipeline runs, under a name that every transport can
   * carry; `id` is its name in policies. Costly, so it is created on first use. Throws CONFIG for
   * what cannot be a tool.
   */
  define(name: string, id: string): ToolDefinition
  /**
   * How to start it, for a supervisor. Absent for tools that are no programs. Throws when its file
   * is not the one that was found.
   */
  program?(): Promise<FoundProgram>
  /** It only calls other tools, and each of those calls is checked. */
  readonly composed?: true
}

/** A tool that is a program, as a supervisor needs it. */
export type FoundProgram = {
  /**
   * Its variables are unexpanded: `${NAME}` is replaced from the host's environment at each start,
   * and must not be cached.
   */
  readonly call: ChildCall
  /**
   * The permissions that its owner declared, and the file that declares them: it gets nothing
   * else. Absent: nothing is declared.
   */
  readonly permissions?: Permissions
  readonly manifest?: string
  /** It starts other tools and may report its tasks. */
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
export function joinLoaded(parts: readonly LoadedSource[]): Required<LoadedSource> {
  return {
    tools: parts.flatMap(({ tools }) => tools),
    resources: parts.flatMap(({ resources = [] }) => resources),
    prompts: parts.flatMap(({ prompts = [] }) => prompts),
    problems: parts.flatMap(({ problems = [] }) => problems),
  }
}

/** Collects problems of one source. The default severity is `warning`. */
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
 * Replaces `${NAME}` and `${NAME:-default}` from the host's environment. Throws CONFIG, naming
 * `what`, for a variable that is not set and has no default.
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

/** Expands each value of an object of texts. */
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
 * The whole environment of a child: the base allow-list and its own variables. Throws CONFIG for a
 * required variable that is missing.
 */
export function buildChildEnv(call: ChildCall, ctx: Context): { [name: string]: string } {
  return { ...buildCallEnv(ctx.env), ...collectOwnVariables(call, ctx) }
}

/**
 * The variables of a child besides the base allow-list: those it requires by name and those its
 * configuration sets. Throws CONFIG for a required one that is missing.
 */
export function collectOwnVariables(
  { env = {}, requireEnv = [] }: Pick<ChildCall, 'env' | 'requireEnv'>,
  { env: host }: Pick<Context, 'env'>,
): { [name: string]: string } {
  const names = requireEnv.filter((name) => !Object.hasOwn(env, name))
  const values = names.map((name) => (Object.hasOwn(host, name) ? host[name] : undefined))
  const missing = names.filter((_name, index) => values[index] === undefined)
  if (missing.length > 0)
    throw new ToolError(
      'CONFIG',
      `the tool needs ${missing.length === 1 ? 'the variable' : 'the variables'} ${missing.join(', ')} in the environment`,
      {
        details: { missing },
        suggestion: `export ${missing.map((name) => `${name}=…`).join(' ')}`,
      },
    )
  const required = Object.fromEntries(names.map((name, index) => [name, values[index]!]))
  return { PYTHONIOENCODING: 'utf-8', ...required, ...env }
}
