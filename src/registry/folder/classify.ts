/**
 * Classifies a candidate by its manifest or by the comment `toolable: {...}` in the file itself.
 */

import { readFileSync } from 'node:fs'
import { failReading } from '../../protocol/documents.ts'
import type { ReadProblem, ReadResult } from '../../protocol/documents.ts'
import { readPlainYaml, reportYamlLimit, YAML_LIMITS } from '../../protocol/yaml.ts'
import { compact, isObject } from '../../util/values.ts'
import type { Json } from '../../util/values.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import {
  findNameProblem,
  findPermissionsProblem,
  getOwn,
  isFileCommand,
  readMetadata,
} from '../manifests/metadata.ts'
import type { NamedServer } from '../manifests/metadata.ts'
import { readErrorCodes, readManifest } from '../manifests/yaml.ts'
import { toToolableCall } from '../probe/discovery.ts'
import type { ForeignMetadata } from '../source.ts'
import {
  buildStartCommand,
  getRunner,
  HEAD_BYTES,
  isExecutableMode,
  MAX_HEAD_BYTES,
  readFileHead,
} from './candidates.ts'
import type { FolderCandidate } from './candidates.ts'
import { toOutlinedTool } from './outline.ts'
import type { CandidateOutline, ProgramTool } from './outline.ts'

/** What is found out about a candidate: the short form, and the whole as JSON text. */
export type Classification = { readonly outline: CandidateOutline; readonly body: string }

/** A program that has to be asked itself, because nothing is written about it. */
export type UnknownProgram = { readonly command: ChildCall['command'] }

/** Reads what is written about a candidate, in its manifest or in a comment. Nothing is run. */
export async function classifyCandidate(
  candidate: FolderCandidate,
  python: string,
): Promise<Classification | UnknownProgram> {
  try {
    return candidate.what === 'program'
      ? classifyProgram(candidate, python)
      : classifyYaml(candidate, await readYamlFile(candidate))
  } catch (error) {
    return toProblemClassification(candidate, {
      reason: 'unreadable',
      message: `cannot be read: ${(error as Error).message}`,
      fix: 'Check its permissions',
    })
  }
}

/** A candidate that is no tool, told with its file and line. */
export function toProblemClassification(
  { key }: FolderCandidate,
  { reason, message, fix, line }: ReadProblem,
): Classification {
  return {
    outline: {
      is: 'problem',
      reason,
      message: `${key}${line === undefined ? '' : `:${line}`} ${message}`,
      fix,
    },
    body: '',
  }
}

async function readYamlFile({ path, seen }: FolderCandidate): Promise<ReadResult<Json>> {
  // Characters are not bytes, so the reader looks again.
  return seen.stamp.size > YAML_LIMITS.bytes * 4
    ? { problem: reportYamlLimit(`is larger than ${YAML_LIMITS.bytes / 1024} KiB`) }
    : readPlainYaml(readFileSync(path, 'utf8'))
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
      ...('server' in manifest.value
        ? { server: true, ...getServerEntry(manifest.value.server) }
        : compact({
            version: manifest.value.version,
            entry: manifest.value.entry,
            runner: manifest.value.runner,
          })),
    },
    body: JSON.stringify(manifest.value),
  }
}

// A server of the folder is not asked as if it were a tool.
function getServerEntry(server: NamedServer): { readonly entry?: string } {
  return 'command' in server && isFileCommand(server.command) ? { entry: server.command } : {}
}

function classifyProgram(
  candidate: FolderCandidate,
  python: string,
): Classification | UnknownProgram {
  const { path, seen } = candidate
  const head = readFileHead(path)
  const command = buildStartCommand(
    path,
    getRunner(path),
    python,
    head,
    isExecutableMode(seen.mode),
  )
  const inFile = readInFileManifest(
    isManifestCutOff(head) ? readFileHead(path, MAX_HEAD_BYTES) : head,
  )
  if (!inFile) return { command }
  return 'problem' in inFile
    ? toProblemClassification(candidate, inFile.problem)
    : toInFileClassification(inFile.value, command)
}

function toInFileClassification(
  { version, serves = false, tools }: InFileManifest,
  command: ChildCall['command'],
): Classification {
  const whole = tools.map(({ name, facts, form, several }): ProgramTool => ({
    name,
    facts,
    call: toInFileCall({ name, facts }, form, several, serves, command),
  }))
  return {
    outline: compact({
      is: 'tools',
      how: 'manifest in the file',
      tier: 'manifest',
      version,
      tools: whole.map(({ name, facts }) => toOutlinedTool(name, facts)),
    }),
    body: JSON.stringify({ tools: whole }),
  }
}

function toInFileCall(
  tool: Pick<ProgramTool, 'name' | 'facts'>,
  form: CallForm,
  several: boolean,
  serves: boolean,
  command: ChildCall['command'],
): ChildCall {
  if (form === 'toolable') return toToolableCall(command, tool, { serves, readsStdin: serves })
  return { form, command: several ? [...command, tool.name] : command }
}

/** A tool of a manifest inside a file. */
type InFileTool = {
  readonly name: string
  readonly facts: ForeignMetadata
  readonly form: CallForm
  /** One of several: its name is the first argument. */ readonly several: boolean
}

type InFileManifest = {
  readonly name: string | undefined
  readonly version?: string
  /** It answers calls by JSON lines with --serve: one that was built. */ readonly serves?: boolean
  readonly tools: readonly InFileTool[]
}

type InFileData = { readonly [key: string]: unknown }

const IN_FILE_CALL_FORMS = [
  'json',
  'flags',
  'stdin',
  'protocol',
  'toolable',
] as const satisfies readonly CallForm[]
const IN_FILE_FIX =
  'Write # toolable: {"name": "...", "summary": "...", "input": {JSON Schema}, "call": "json"} as one comment'

/** True when a manifest begins in the first bytes of a file and does not end in them. */
function isManifestCutOff(head: string): boolean {
  const comment = head.length < HEAD_BYTES ? undefined : findManifestComment(head)
  return comment !== undefined && comment.text === undefined
}

/**
 * Reads the manifest that stands in a comment of a file, from its first bytes; undefined: there is
 * none. The file is not run.
 */
export function readInFileManifest(
  head: string,
): { readonly value: InFileManifest } | { readonly problem: ReadProblem } | undefined {
  const comment = findManifestComment(head)
  if (!comment) return undefined
  const broken = (message: string, fix = IN_FILE_FIX): { readonly problem: ReadProblem } =>
    failReading('manifest', message, fix, comment.line)
  if (comment.text === undefined)
    return broken(`has a manifest that does not end in its first ${MAX_HEAD_BYTES / 1024} kB`)
  let data: unknown
  try {
    data = JSON.parse(comment.text)
  } catch (error) {
    return broken(`has a manifest that is not JSON: ${(error as Error).message}`)
  }
  if (!isObject(data)) return broken('has a manifest that is not an object')
  const list = getOwn(data, 'tools')
  // An empty list says that the file is not a tool: a library for tools.
  if (list !== undefined && !Array.isArray(list))
    return broken("has a manifest whose 'tools' are not a list")
  const tools: InFileTool[] = []
  for (const each of (list as readonly unknown[] | undefined) ?? [data]) {
    const read = isObject(each)
      ? readInFileTool(each, data, list !== undefined)
      : 'has a manifest with a tool that is not an object'
    if (typeof read === 'string') return broken(read)
    if (tools.some(({ name }) => name === read.name))
      return broken(
        `has a manifest with two tools of the name '${read.name}'`,
        'Give each tool a name of its own',
      )
    tools.push(read)
  }
  const name = getOwn(data, 'name')
  return {
    value: {
      name: findNameProblem(name) === undefined ? (name as string) : undefined,
      ...compact({
        version:
          typeof getOwn(data, 'version') === 'string'
            ? (getOwn(data, 'version') as string)
            : undefined,
        serves: getOwn(data, 'serve') === true || undefined,
      }),
      tools,
    },
  }
}

function readInFileTool(
  data: InFileData,
  whole: InFileData,
  several: boolean,
): InFileTool | string {
  const name = getOwn(data, 'name')
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return `has a manifest that ${unnamed}`
  const form = getOwn(data, 'call') ?? getOwn(whole, 'call') ?? 'json'
  if (!(IN_FILE_CALL_FORMS as readonly unknown[]).includes(form))
    return `has a manifest with call ${JSON.stringify(form)?.slice(0, 40)}; it is one of ${IN_FILE_CALL_FORMS.join(', ')}`
  const input = getOwn(data, 'input')
  if (input !== undefined && (!isObject(input) || (getOwn(input, 'type') ?? 'object') !== 'object'))
    return "has a manifest whose 'input' is no JSON Schema of an object"
  const asked = {
    ...Object.fromEntries(
      ['permissions', 'resources', 'secrets']
        .filter((key) => getOwn(whole, key) !== undefined)
        .map((key) => [key, whole[key]]),
    ),
    ...data,
  }
  const wide = findPermissionsProblem(asked)
  if (wide) return wide.problem.message
  const output = getOwn(data, 'output')
  if (output !== undefined && !isObject(output))
    return "has a manifest whose 'output' is no JSON Schema"
  return {
    name: name as string,
    form: form as CallForm,
    several,
    facts: {
      ...readMetadata(asked),
      ...compact({
        inputSchema: input !== undefined ? { type: 'object', ...input } : undefined,
        outputSchema: output,
      }),
    },
  }
}

const MAX_COMMENT_LINE = 20
const MANIFEST_MARK =
  /^(?:#+|\/\/+|--+|;+|%+|\/\*+|\*+|<!--+|\(\*+|'|@?rem\b)?\s*toolable:\s*(\{.*)$/i
const COMMENT_LEAD = /^(?:#+|\/\/+|--+|;+|%+|\*+(?!\/)|'|@?rem\b)?/i
const BLOCK_START = /^(?:\/\*|<!--|\(\*|--\[\[|\{-|=begin|<#|'''|""")/

/**
 * The JSON text of a comment `toolable: {...}`, and the line where it begins; `text` is undefined
 * where its last brace is missing.
 */
type ManifestComment = { readonly line: number; readonly text: string | undefined }

/**
 * Finds the comment `toolable: {...}` among the first lines of a file of any language; it may go on
 * over comment lines.
 */
function findManifestComment(source: string): ManifestComment | undefined {
  const lines = source.split(/\r?\n/)
  let block = false
  for (const [index, whole] of lines.slice(0, MAX_COMMENT_LINE).entries()) {
    const line = whole.trimStart()
    const found = MANIFEST_MARK.exec(line)
    // Outside of a block a bare line is code, and code is not a comment.
    if (found && (block || isCommentLine(line)))
      return { line: index + 1, text: collectJsonText(found[1]!, lines.slice(index + 1)) }
    if (BLOCK_START.test(line)) block = true
  }
  return undefined
}

function isCommentLine(line: string): boolean {
  return /^(?:#|\/\/|--|;|%|\/\*|\*|<!--|\(\*|'|@?rem\b)/i.test(line)
}

// Whole only when every brace outside of texts is closed.
function collectJsonText(first: string, following: readonly string[]): string | undefined {
  let text = ''
  let depth = 0
  let quoted = false
  for (const line of [
    first,
    ...following.map((each) => each.trimStart().replace(COMMENT_LEAD, '')),
  ]) {
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
