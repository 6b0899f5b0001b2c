import { isObject } from '../../contract/json.ts'
import type { PromptManifest, ResourceManifest } from '../../contract/manifest.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import { parse } from '../cache/line.ts'
import type { ErrorCodes } from '../manifests/error-codes.ts'
import type { ManifestFile } from '../manifests/manifest.ts'
import type { WholeTool } from './outline.ts'

const FORMS = [
  'json',
  'flags',
  'stdin',
  'protocol',
  'toolable',
  'program',
] as const satisfies readonly CallForm[]

/** What a program brings, whole. */
export type ProgramBody = {
  readonly tools: readonly WholeTool[]
  readonly command?: ChildCall['command']
  readonly resources?: readonly ResourceManifest[]
  readonly prompts?: readonly PromptManifest[]
}

/** The body of a program's record. Throws CONFIG where the cache is damaged. */
export function readProgramBody(body: string): ProgramBody {
  const data = parse(body)
  if (!isObject(data) || !Array.isArray(data['tools']) || !data['tools'].every(isWholeTool))
    throw damaged()
  if (
    (data['resources'] !== undefined || data['prompts'] !== undefined) &&
    !(
      isCommand(data['command']) &&
      Array.isArray(data['resources']) &&
      Array.isArray(data['prompts'])
    )
  )
    throw damaged()
  return data as ProgramBody
}

/** The body of a manifest's record. Throws CONFIG where the cache is damaged. */
export function readManifestBody(body: string): ManifestFile {
  const data = parse(body)
  if (
    !isObject(data) ||
    typeof data['name'] !== 'string' ||
    !isObject(data['facts']) ||
    !(isObject(data['server']) || isObject(data['call']))
  )
    throw damaged()
  return data as ManifestFile
}

/** The body of a record of error codes; none where the cache is damaged. */
export function readCodesBody(body: string): ErrorCodes {
  const data = parse(body)
  return isObject(data) &&
    Object.values(data).every((code) => isObject(code) && typeof code['message'] === 'string')
    ? (data as ErrorCodes)
    : {}
}

function isWholeTool(tool: unknown): boolean {
  if (
    !isObject(tool) ||
    typeof tool['name'] !== 'string' ||
    !isObject(tool['facts']) ||
    !isObject(tool['call'])
  )
    return false
  const { form, command } = tool['call']
  return (FORMS as readonly unknown[]).includes(form) && isCommand(command)
}

function isCommand(command: unknown): boolean {
  return (
    Array.isArray(command) &&
    command.length > 0 &&
    command.every((word) => typeof word === 'string')
  )
}

function damaged(): ToolError {
  return new ToolError('CONFIG', 'what was remembered of this tool cannot be read', {
    suggestion: 'toolable rescan --fresh',
  })
}
