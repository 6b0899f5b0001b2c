/**
 * What is remembered about a candidate: a short outline for lists and a body that is parsed when the tool is used.
 */

import type { PromptManifest, ResourceManifest } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isObject } from '../../util/values.ts'
import { parseJson } from '../cache.ts'
import type { CallForm, ChildCall, ChildServices } from '../child/child-call.ts'
import type { ManifestFile, ScriptRunner } from '../manifests/metadata.ts'
import type { ErrorCodes } from '../manifests/yaml.ts'
import { toSummary } from '../names.ts'
import { TIERS } from '../source.ts'
import type { ForeignMetadata, Tier } from '../source.ts'

/** What a list shows of a tool: name, summary, tags. */
type OutlinedTool = readonly [name: string, summary: string, tags: readonly string[]]

/** What is known of a candidate, short: enough to list it. */
export type CandidateOutline = {
  /** Milliseconds of the wall clock after which it is asked again; absent: when it changes. */
  readonly until?: number
  /** What it was asked through; another interpreter is another answer. */
  readonly through?: string
} & (
  | {
      readonly is: 'tools'
      readonly how: string
      readonly tier: Tier
      readonly version?: string
      readonly tools: readonly OutlinedTool[]
      readonly warnings?: readonly CandidateProblem[]
      /** It has resources or prompts. */ readonly more?: true
    }
  | {
      readonly is: 'manifest'
      readonly how: string
      readonly version?: string
      readonly tools: readonly [OutlinedTool]
      readonly entry?: string
      readonly runner?: ScriptRunner
      readonly server?: true
    }
  | ({ readonly is: 'problem' } & CandidateProblem)
  | { readonly is: 'error-codes' }
  | { readonly is: 'nothing' }
)

/** What is wrong with a candidate. */
export type CandidateProblem = {
  readonly reason: string
  readonly message: string
  readonly fix: string
}

/** A tool of another process, whole: what the body of a record holds. */
export type ProgramTool = {
  readonly name: string
  readonly facts: ForeignMetadata
  readonly call: ChildCall
}

/** How a tool is listed. */
export function toOutlinedTool(name: string, facts: ForeignMetadata): OutlinedTool {
  return [name, toSummary(name, facts), facts.tags ?? []]
}

/**
 * The outline that a remembered line has; undefined where it has none, because somebody else wrote
 * it.
 */
export function parseOutline(data: {
  readonly [key: string]: unknown
}): CandidateOutline | undefined {
  if (data['until'] !== undefined && typeof data['until'] !== 'number') return undefined
  switch (data['is']) {
    case 'tools':
      return isText(data['how']) &&
        (TIERS as readonly unknown[]).includes(data['tier']) &&
        areOutlinedTools(data['tools']) &&
        (data['warnings'] === undefined || areProblems(data['warnings']))
        ? (data as CandidateOutline)
        : undefined
    case 'manifest':
      return isText(data['how']) &&
        areOutlinedTools(data['tools']) &&
        data['tools'].length === 1 &&
        (data['entry'] === undefined || isText(data['entry']))
        ? (data as CandidateOutline)
        : undefined
    case 'problem':
      return areProblems([data]) ? (data as CandidateOutline) : undefined
    case 'error-codes':
    case 'nothing':
      return data as CandidateOutline
    default:
      return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function areOutlinedTools(value: unknown): value is readonly OutlinedTool[] {
  return (
    Array.isArray(value) &&
    value.every(
      (tool) => Array.isArray(tool) && isText(tool[0]) && isText(tool[1]) && Array.isArray(tool[2]),
    )
  )
}

function areProblems(value: unknown): value is readonly CandidateProblem[] {
  return (
    Array.isArray(value) &&
    value.every(
      (trouble) =>
        isObject(trouble) &&
        isText(trouble['reason']) &&
        isText(trouble['message']) &&
        isText(trouble['fix']),
    )
  )
}

const KNOWN_CALL_FORMS = [
  'json',
  'flags',
  'stdin',
  'protocol',
  'toolable',
  'program',
] as const satisfies readonly CallForm[]

/** What a program brings, whole. */
export type ProgramBody = {
  readonly tools: readonly ProgramTool[]
  readonly command?: ChildCall['command']
  readonly resources?: readonly ResourceManifest[]
  readonly prompts?: readonly PromptManifest[]
}

/** The body of a program's record. Throws CONFIG where the cache is damaged. */
export function parseProgramBody(body: string): ProgramBody {
  const data = parseJson(body)
  if (!isObject(data) || !Array.isArray(data['tools']) || !data['tools'].every(isProgramTool))
    throw toDamagedCacheError()
  if (
    (data['resources'] !== undefined || data['prompts'] !== undefined) &&
    !(
      isCommand(data['command']) &&
      Array.isArray(data['resources']) &&
      Array.isArray(data['prompts'])
    )
  )
    throw toDamagedCacheError()
  return data as ProgramBody
}

/** The body of a manifest's record. Throws CONFIG where the cache is damaged. */
export function parseManifestBody(body: string): ManifestFile {
  const data = parseJson(body)
  if (
    !isObject(data) ||
    typeof data['name'] !== 'string' ||
    !isObject(data['facts']) ||
    !(isObject(data['server']) || isObject(data['call']))
  )
    throw toDamagedCacheError()
  return data as ManifestFile
}

/** The body of a record of error codes; none where the cache is damaged. */
export function parseErrorCodesBody(body: string): ErrorCodes {
  const data = parseJson(body)
  return isObject(data) &&
    Object.values(data).every((code) => isObject(code) && typeof code['message'] === 'string')
    ? (data as ErrorCodes)
    : {}
}

function isProgramTool(tool: unknown): boolean {
  if (
    !isObject(tool) ||
    typeof tool['name'] !== 'string' ||
    !isObject(tool['facts']) ||
    !isObject(tool['call'])
  )
    return false
  const { form, command } = tool['call']
  return (KNOWN_CALL_FORMS as readonly unknown[]).includes(form) && isCommand(command)
}

function isCommand(command: unknown): boolean {
  return (
    Array.isArray(command) &&
    command.length > 0 &&
    command.every((word) => typeof word === 'string')
  )
}

function toDamagedCacheError(): ToolError {
  return new ToolError('CONFIG', 'what was remembered of this tool cannot be read', {
    suggestion: 'toolable rescan --fresh',
  })
}

/** What the tools of one folder share. */
export type FolderContext = {
  /** The real path. */
  readonly folder: string
  /** The name of the source. */
  readonly source: string
  readonly services: ChildServices
  /** The environment of the host, for `${NAME}`. */
  readonly env: { readonly [name: string]: string | undefined }
  /** Variables that the host gives to all tools of the folder. */
  readonly variables: { readonly [name: string]: string }
  /**
   * The same as they are written, with `${NAME}` in them: what is remembered may hold no secrets.
   */
  readonly variableTemplates: { readonly [name: string]: string }
  /** Error codes that all tools of the folder share. */
  readonly codes: () => ErrorCodes
  /** A call found that a file is not what it was. */
  readonly onStale: () => void
}
