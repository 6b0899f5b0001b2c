/**
 * Classifies a candidate by its manifest or by the comment `toolable: {...}` in the file itself.
 */

import { readFileSync } from 'node:fs'
import type { ReadProblem, ReadResult } from '../../protocol/documents.ts'
import { failReading } from '../../protocol/documents.ts'
import { readPlainYaml, reportYamlLimit, YAML_LIMITS } from '../../protocol/yaml.ts'
import type { Json, JsonObject } from '../../util/values.ts'
import { compact, isObject, ownFields } from '../../util/values.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import { CALL_FORMS } from '../child/child-call.ts'
import type { ManifestFile } from '../manifests/metadata.ts'
import {
  findNameProblem,
  findPermissionsProblem,
  isFileCommand,
  isObjectSchema,
  readMetadata,
} from '../manifests/metadata.ts'
import { readErrorCodes, readManifest } from '../manifests/yaml.ts'
import type { ProgramTool } from '../probe/ask.ts'
import { toToolableCall } from '../probe/discovery.ts'
import type { FolderCandidate } from './candidates.ts'
import {
  buildStartCommand,
  findPython,
  HEAD_BYTES,
  MAX_HEAD_BYTES,
  readFileHead,
} from './candidates.ts'
import type { CandidateOutline } from './outline.ts'
import { toOutlinedTool } from './outline.ts'

/** What is known about a candidate: the short form, and the whole as JSON text. */
export type Classification = { readonly outline: CandidateOutline; readonly body: string }

/** Reads what is written about a candidate, in its manifest or in a comment. Nothing is run. */
export async function classifyCandidate(
  candidate: FolderCandidate,
  folder: string,
): Promise<Classification | UnknownProgram> {
  try {
    return candidate.what === 'program'
      ? classifyProgram(candidate, folder)
      : classifyYaml(candidate, await readYamlFile(candidate))
  } catch (error) {
    return toProblemClassification(candidate, {
      reason: 'unreadable',
      message: `cannot be read: ${(error as Error).message}`,
      fix: 'Check its permissions',
    })
  }
}

/** A program that has to be asked itself, because it has no manifest. */
export type UnknownProgram = {
  readonly candidate: FolderCandidate
  readonly command: ChildCall['command']
}

// A candidate that is no tool, with its file and line.
function toProblemClassification(
  { key }: FolderCandidate,
  { reason, message, fix, line }: ReadProblem,
): Classification {
  const location = line === undefined ? key : `${key}:${line}`
  return { outline: { is: 'problem', reason, message: `${location} ${message}`, fix }, body: '' }
}

async function readYamlFile({ path, seen }: FolderCandidate): Promise<ReadResult<Json>> {
  // Characters are not bytes, so the reader checks the length again.
  if (seen.stamp.size > YAML_LIMITS.bytes * 4)
    return { problem: reportYamlLimit(`is larger than ${YAML_LIMITS.bytes / 1024} KiB`) }
  return readPlainYaml(readFileSync(path, 'utf8'))
}

function classifyYaml(candidate: FolderCandidate, text: ReadResult<Json>): Classification {
  if ('problem' in text) return toProblemClassification(candidate, text.problem)
  if (candidate.what === 'error-codes') {
    const codes = readErrorCodes(text.value)
    return 'problem' in codes
      ? toProblemClassification(candidate, codes.problem)
      : { outline: { is: 'error-codes' }, body: JSON.stringify(codes.value) }
  }
  const manifest = readManifest(text.value, candidate.what === 'registered')
  if (!manifest) return { outline: { is: 'nothing' }, body: '' }
  if ('problem' in manifest) return toProblemClassification(candidate, manifest.problem)
  const { style, name, facts } = manifest.value
  return {
    outline: {
      is: 'manifest',
      how: `${style} manifest`,
      tools: [toOutlinedTool(name, facts)],
      ...outlineProgram(manifest.value),
    },
    body: JSON.stringify(manifest.value),
  }
}

function outlineProgram(
  manifest: ManifestFile,
): Pick<CandidateOutline & { readonly is: 'manifest' }, 'version' | 'entry' | 'runner' | 'server'> {
  if (!('server' in manifest)) {
    const { version, entry, runner } = manifest
    return compact({ version, entry, runner })
  }
  // The file of a server is its entry, so that it is not asked as if it were a tool.
  const { server } = manifest
  const hasFile = 'command' in server && isFileCommand(server.command)
  return compact({ server: true, entry: hasFile ? server.command : undefined })
}

function classifyProgram(
  candidate: FolderCandidate,
  folder: string,
): Classification | UnknownProgram {
  const { path, toolFolder } = candidate
  const head = readFileHead(path)
  const command = buildStartCommand(path, findPython(folder, toolFolder), undefined, head)
  const inFile = readInFileManifest(
    isManifestCutOff(head) ? readFileHead(path, MAX_HEAD_BYTES) : head,
  )
  if (!inFile) return { candidate, command }
  if ('problem' in inFile) return toProblemClassification(candidate, inFile.problem)
  const { version, serves, tools } = inFile.value
  return {
    outline: compact({
      is: 'tools',
      how: 'manifest in the file',
      tier: 'manifest',
      version,
      tools: tools.map(({ name, facts }) => toOutlinedTool(name, facts)),
    }),
    body: JSON.stringify({
      tools: tools.map(({ name, facts, ...tool }): ProgramTool => ({
        name,
        facts,
        call: toInFileCall({ name, facts, ...tool }, command, serves === true),
      })),
    }),
  }
}

function toInFileCall(
  { form, several, ...tool }: InFileTool,
  command: ChildCall['command'],
  serves: boolean,
): ChildCall {
  if (form === 'toolable') return toToolableCall(command, tool, { serves, readsStdin: serves })
  return { form, command: several ? [...command, tool.name] : command }
}

/** A tool of a manifest inside a file. */
type InFileTool = Omit<ProgramTool, 'call'> & {
  readonly form: CallForm
  /** One of several: its name is the first argument. */
  readonly several: boolean
}

type InFileManifest = {
  readonly name: string | undefined
  readonly version?: string
  /** It answers calls by JSON lines with --serve, as built programs do. */
  readonly serves?: boolean
  readonly tools: readonly InFileTool[]
}

const IN_FILE_CALL_FORMS: readonly unknown[] = CALL_FORMS.filter((form) => form !== 'program')
const IN_FILE_FIX =
  'Write # toolable: {"name": "...", "summary": "...", "input": {JSON Schema}, "call": "json"} as one comment'

/** True when a manifest begins in the first bytes of a file and does not end in them. */
function isManifestCutOff(head: string): boolean {
  const comment = head.length < HEAD_BYTES ? undefined : findManifestComment(head)
  return comment !== undefined && comment.text === undefined
}

/**
 * Reads the manifest in a comment of a file, from its first bytes; undefined where there is none.
 * The file is not run.
 */
export function readInFileManifest(
  head: string,
): { readonly value: InFileManifest } | { readonly problem: ReadProblem } | undefined {
  const comment = findManifestComment(head)
  if (!comment) return undefined
  const reject = (message: string, fix = IN_FILE_FIX): { readonly problem: ReadProblem } =>
    failReading('manifest', message, fix, comment.line)
  if (comment.text === undefined)
    return reject(`has a manifest that does not end in its first ${MAX_HEAD_BYTES / 1024} kB`)
  let document: unknown
  try {
    document = JSON.parse(comment.text)
  } catch (error) {
    return reject(`has a manifest that is not JSON: ${(error as Error).message}`)
  }
  if (!isObject(document)) return reject('has a manifest that is not an object')
  const data = ownFields(document)
  // An empty list says that the file is not a tool: a library for tools.
  const { name, version, tools: list } = data
  if (list !== undefined && !Array.isArray(list))
    return reject("has a manifest whose 'tools' are not a list")
  const tools: InFileTool[] = []
  for (const each of (list as readonly unknown[] | undefined) ?? [data]) {
    if (!isObject(each)) return reject('has a manifest with a tool that is not an object')
    const tool = readInFileTool(ownFields(each), data, list !== undefined)
    if (typeof tool === 'string') return reject(tool)
    if (tools.some((other) => other.name === tool.name))
      return reject(
        `has a manifest with two tools of the name '${tool.name}'`,
        'Give each tool a name of its own',
      )
    tools.push(tool)
  }
  return {
    value: {
      name: findNameProblem(name) === undefined ? (name as string) : undefined,
      ...compact({
        version: typeof version === 'string' ? version : undefined,
        serves: data['serve'] === true || undefined,
      }),
      tools,
    },
  }
}

/** One tool of a manifest, or what is wrong with it. */
function readInFileTool(
  data: JsonObject,
  whole: JsonObject,
  several: boolean,
): InFileTool | string {
  const { name, input, output } = data
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return `has a manifest that ${unnamed}`
  const form = data['call'] ?? whole['call'] ?? 'json'
  if (!IN_FILE_CALL_FORMS.includes(form))
    return `has a manifest with call ${JSON.stringify(form)?.slice(0, 40)}; it is one of ${IN_FILE_CALL_FORMS.join(', ')}`
  if (input !== undefined && !isObjectSchema(input))
    return "has a manifest whose 'input' is no JSON Schema of an object"
  const { permissions, resources, secrets } = whole
  const asked = ownFields({ ...compact({ permissions, resources, secrets }), ...data })
  const wide = findPermissionsProblem(asked)
  if (wide) return wide.problem.message
  if (output !== undefined && !isObject(output))
    return "has a manifest whose 'output' is no JSON Schema"
  const schemas = compact({
    inputSchema: input && { type: 'object', ...input },
    outputSchema: output,
  })
  return {
    name: name as string,
    form: form as CallForm,
    several,
    facts: { ...readMetadata(asked), ...schemas },
  }
}

const MAX_COMMENT_LINE = 20
const MANIFEST_MARK =
  /^(?:#+|\/\/+|--+|;+|%+|\/\*+|\*+|<!--+|\(\*+|'|@?rem\b)?\s*toolable:\s*(\{.*)$/i
const COMMENT_LEAD = /^(?:#+|\/\/+|--+|;+|%+|\*+(?!\/)|'|@?rem\b)?/i
const COMMENT_LINE = /^(?:#|\/\/|--|;|%|\/\*|\*|<!--|\(\*|'|@?rem\b)/i
const BLOCK_START = /^(?:\/\*|<!--|\(\*|--\[\[|\{-|=begin|<#|'''|""")/

/**
 * Finds the comment `toolable: {...}` among the first lines of a file of any language, with the
 * line where it begins. It may span comment lines; `text` is undefined where the last brace is
 * missing.
 */
function findManifestComment(
  source: string,
): { readonly line: number; readonly text: string | undefined } | undefined {
  const lines = source.split(/\r?\n/)
  let isInBlock = false
  for (const [index, whole] of lines.slice(0, MAX_COMMENT_LINE).entries()) {
    const line = whole.trimStart()
    const found = MANIFEST_MARK.exec(line)
    // Outside of a block a bare line is code.
    if (found && (isInBlock || COMMENT_LINE.test(line)))
      return { line: index + 1, text: collectJsonText(found[1]!, lines.slice(index + 1)) }
    if (BLOCK_START.test(line)) isInBlock = true
  }
  return undefined
}

// Up to the brace that closes the first one; braces in texts do not count.
function collectJsonText(first: string, following: readonly string[]): string | undefined {
  let text = ''
  let depth = 0
  let quoted = false
  const more = following.map((line) => line.trimStart().replace(COMMENT_LEAD, ''))
  for (const line of [first, ...more]) {
    for (let at = 0; at < line.length; at++) {
      const character = line[at]!
      if (quoted) {
        if (character === '\\') at++
        else if (character === '"') quoted = false
      } else if (character === '"') quoted = true
      else if (character === '{') depth++
      else if (character === '}' && --depth === 0) return text + line.slice(0, at + 1)
    }
    text += line
  }
  return undefined
}
