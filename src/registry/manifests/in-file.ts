import { isObject } from '../../contract/json.ts'
import type { CallForm } from '../child/child-call.ts'
import type { ForeignFacts } from '../found.ts'
import { findComment } from './comment.ts'
import { IN_FILE_BYTES, LONGEST_IN_FILE_BYTES } from './in-file-bytes.ts'
import { findNameProblem, findPermissionsProblem, own, readFacts } from './facts.ts'
import type { ReadProblem } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'

/** A tool of a manifest inside a file. */
export type InFileTool = {
  readonly name: string
  readonly facts: ForeignFacts
  readonly form: CallForm
  /** One of several: its name is the first argument. */ readonly several: boolean
}

export type InFile = {
  readonly name: string | undefined
  readonly version?: string
  /** It answers calls by JSON lines with --serve: one that was built. */ readonly serves?: boolean
  readonly tools: readonly InFileTool[]
}

type Data = { readonly [key: string]: unknown }

const FORMS = [
  'json',
  'flags',
  'stdin',
  'protocol',
  'toolable',
] as const satisfies readonly CallForm[]
const FIX =
  'Write # toolable: {"name": "...", "summary": "...", "input": {JSON Schema}, "call": "json"} as one comment'

/** True when a manifest begins in the first bytes of a file and does not end in them. */
export function isCutOff(head: string): boolean {
  const comment = head.length < IN_FILE_BYTES ? undefined : findComment(head)
  return comment !== undefined && comment.text === undefined
}

/** Reads the manifest that stands in a comment of a file, from its first bytes; undefined: there is none. The file is not run. */
export function readInFile(
  head: string,
): { readonly value: InFile } | { readonly problem: ReadProblem } | undefined {
  const comment = findComment(head)
  if (!comment) return undefined
  const broken = (message: string, fix = FIX): { readonly problem: ReadProblem } =>
    refuse('manifest', message, fix, comment.line)
  if (comment.text === undefined)
    return broken(
      `has a manifest that does not end in its first ${LONGEST_IN_FILE_BYTES / 1024} kB`,
    )
  let data: unknown
  try {
    data = JSON.parse(comment.text)
  } catch (error) {
    return broken(`has a manifest that is not JSON: ${(error as Error).message}`)
  }
  if (!isObject(data)) return broken('has a manifest that is not an object')
  const list = own(data, 'tools')
  // An empty list says that the file is not a tool: a library for tools.
  if (list !== undefined && !Array.isArray(list))
    return broken("has a manifest whose 'tools' are not a list")
  const tools: InFileTool[] = []
  for (const each of (list as readonly unknown[] | undefined) ?? [data]) {
    const read = isObject(each)
      ? readTool(each, data, list !== undefined)
      : 'has a manifest with a tool that is not an object'
    if (typeof read === 'string') return broken(read)
    if (tools.some(({ name }) => name === read.name))
      return broken(
        `has a manifest with two tools of the name '${read.name}'`,
        'Give each tool a name of its own',
      )
    tools.push(read)
  }
  const name = own(data, 'name')
  return {
    value: {
      name: findNameProblem(name) === undefined ? (name as string) : undefined,
      ...(typeof own(data, 'version') === 'string' && { version: own(data, 'version') as string }),
      ...(own(data, 'serve') === true && { serves: true }),
      tools,
    },
  }
}

function readTool(data: Data, whole: Data, several: boolean): InFileTool | string {
  const name = own(data, 'name')
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return `has a manifest that ${unnamed}`
  const form = own(data, 'call') ?? own(whole, 'call') ?? 'json'
  if (!(FORMS as readonly unknown[]).includes(form))
    return `has a manifest with call ${JSON.stringify(form)?.slice(0, 40)}; it is one of ${FORMS.join(', ')}`
  const input = own(data, 'input')
  if (input !== undefined && (!isObject(input) || (own(input, 'type') ?? 'object') !== 'object'))
    return "has a manifest whose 'input' is no JSON Schema of an object"
  const asked = {
    ...Object.fromEntries(
      ['permissions', 'resources', 'secrets']
        .filter((key) => own(whole, key) !== undefined)
        .map((key) => [key, whole[key]]),
    ),
    ...data,
  }
  const wide = findPermissionsProblem(asked)
  if (wide) return wide.problem.message
  const output = own(data, 'output')
  if (output !== undefined && !isObject(output))
    return "has a manifest whose 'output' is no JSON Schema"
  return {
    name: name as string,
    form: form as CallForm,
    several,
    facts: {
      ...readFacts(asked),
      ...(input !== undefined && { inputSchema: { type: 'object', ...input } }),
      ...(output !== undefined && { outputSchema: output }),
    },
  }
}
