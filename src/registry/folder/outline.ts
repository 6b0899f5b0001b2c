/**
 * What is remembered about a candidate: a short outline for lists and a body that is parsed when the tool is used.
 */

import type { HostEnv } from '../../process/environment.ts'
import type { PromptManifest, ResourceManifest } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { isObject, ownFields, tryParseJson } from '../../util/values.ts'
import type { ChildCall, ChildServices } from '../child/child-call.ts'
import { CALL_FORMS } from '../child/child-call.ts'
import type { ManifestFile, ScriptRunner } from '../manifests/metadata.ts'
import type { ErrorCodes } from '../manifests/yaml.ts'
import { toSummary } from '../names.ts'
import type { ProgramTool } from '../probe/ask.ts'
import type { ForeignMetadata, Tier } from '../source.ts'
import { TIERS } from '../source.ts'

/** What a list shows of a tool: name, summary, tags. */
type OutlinedTool = readonly [name: string, summary: string, tags: readonly string[]]

/** What is known of a candidate, short: enough to list its tools. */
export type CandidateOutline = {
  /** The time after which it is asked again (ms since 1970); absent: when it changes. */
  readonly until?: number
  /** The interpreter it was asked through; another one may answer differently. */
  readonly through?: string
} & (
  | {
      readonly is: 'tools'
      readonly how: string
      readonly tier: Tier
      readonly version?: string
      readonly tools: readonly OutlinedTool[]
      readonly warnings?: readonly CandidateProblem[]
      /** It has resources or prompts. */
      readonly more?: true
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

/** How a tool is listed. */
export function toOutlinedTool(name: string, facts: ForeignMetadata): OutlinedTool {
  return [name, toSummary(name, facts), facts.tags ?? []]
}

/** Reads the outline of a cached line; undefined where this package did not write it. */
export function parseOutline(data: JsonObject): CandidateOutline | undefined {
  const { until } = data
  const isValid = (until === undefined || typeof until === 'number') && isOutline(data)
  return isValid ? (data as CandidateOutline) : undefined
}

function isOutline(data: JsonObject): boolean {
  const { is, how, tier, tools, warnings = [], entry = '' } = data
  switch (is) {
    case 'tools':
      return (
        isText(how) &&
        (TIERS as readonly unknown[]).includes(tier) &&
        areOutlinedTools(tools) &&
        Array.isArray(warnings) &&
        warnings.every(isProblem)
      )
    case 'manifest':
      return isText(how) && areOutlinedTools(tools) && tools.length === 1 && isText(entry)
    case 'problem':
      return isProblem(data)
    default:
      return is === 'error-codes' || is === 'nothing'
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function areOutlinedTools(value: unknown): value is readonly OutlinedTool[] {
  return Array.isArray(value) && value.every(isOutlinedTool)
}

function isOutlinedTool(tool: unknown): boolean {
  return Array.isArray(tool) && isText(tool[0]) && isText(tool[1]) && Array.isArray(tool[2])
}

function isProblem(value: unknown): boolean {
  return (
    isObject(value) && isText(value['reason']) && isText(value['message']) && isText(value['fix'])
  )
}

/** Everything that a program brings. */
export type ProgramBody = {
  readonly tools: readonly ProgramTool[]
  readonly command?: ChildCall['command']
  readonly resources?: readonly ResourceManifest[]
  readonly prompts?: readonly PromptManifest[]
}

/** Parses the body of a program's record. Throws CONFIG where the cache is damaged. */
export function parseProgramBody(body: string): ProgramBody {
  const { tools, command, resources, prompts } = ownFields(tryParseJson(body))
  const hasDocuments = resources !== undefined || prompts !== undefined
  const areDocuments = isCommand(command) && Array.isArray(resources) && Array.isArray(prompts)
  if (!Array.isArray(tools) || !tools.every(isProgramTool) || (hasDocuments && !areDocuments))
    throw toDamagedCacheError()
  return { tools, command, resources, prompts } as ProgramBody
}

/** Parses the body of a manifest's record. Throws CONFIG where the cache is damaged. */
export function parseManifestBody(body: string): ManifestFile {
  const data = ownFields(tryParseJson(body))
  const { name, facts, server, call } = data
  if (!isText(name) || !isObject(facts) || !(isObject(server) || isObject(call)))
    throw toDamagedCacheError()
  return data as ManifestFile
}

/** Parses the body of a record of error codes; none where the cache is damaged. */
export function parseErrorCodesBody(body: string): ErrorCodes {
  const data = tryParseJson(body)
  const isValid =
    isObject(data) && Object.values(data).every((code) => isObject(code) && isText(code['message']))
  return isValid ? (data as ErrorCodes) : {}
}

function isProgramTool(tool: unknown): boolean {
  if (!isObject(tool) || !isText(tool['name']) || !isObject(tool['facts'])) return false
  const { form, command } = ownFields(tool['call'])
  return (CALL_FORMS as readonly unknown[]).includes(form) && isCommand(command)
}

function isCommand(command: unknown): boolean {
  return Array.isArray(command) && command.length > 0 && command.every(isText)
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
  readonly env: HostEnv
  /** Variables that the host gives to all tools of the folder. */
  readonly variables: { readonly [name: string]: string }
  /** The same with `${NAME}` in them: what is remembered may have no secrets. */
  readonly variableTemplates: { readonly [name: string]: string }
  /** Error codes that all tools of the folder share. */
  readonly codes: () => ErrorCodes
  /** Called when a call finds that a file has changed. */
  readonly onStale: () => void
}
