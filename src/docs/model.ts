/**
 * Everything that documents say about a program, read from its manifest, and the mark by which
 * generated files are recognized.
 */

import type { CommandManifest } from '../cli/command-line.ts'
import { parseExampleArgs } from '../cli/example-arguments.ts'
import {
  formatArgumentTerm,
  formatExampleCommand,
  formatOptionTerm,
  formatUsageArguments,
  isEmptyValue,
  isShownArgument,
} from '../cli/help-sections.ts'
import { describeDeclaredErrors } from '../cli/tool-documents.ts'
import { toLookupKey } from '../core/call.ts'
import { toFlagSpecs } from '../define/flag-specs.ts'
import type { FlagSpec } from '../define/global-flags.ts'
import type {
  Example,
  PromptManifest,
  ResourceManifest,
  ToolsetManifest,
} from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName, quoteForShell } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import {
  createSlugger,
  escapeCommandPlaceholders,
  tidyLine,
  tidyText,
  toSafeJson,
  truncateText,
} from './markdown.ts'
import { describeLimits, describeShape } from './schema-text.ts'

/**
 * One field of a tool's input, ready to be written in any form. All texts are free of control
 * characters.
 */
export type DocParameter = {
  readonly field: string
  /** `<pattern>` or `--max-depth <integer>`. */
  readonly term: string
  readonly short?: string
  /**
   * What JSON has to hold, in the manner of TypeScript: `string`, `"a" | "b"`, `{ name: string
   * }[]`.
   */
  readonly type: string
  readonly required: boolean
  /** As JSON; absent where there is none or where it says nothing (`false`, an empty list). */
  readonly fallback?: string
  readonly choices?: readonly string[]
  /** `1 to 100`, `at most 200 characters`. */
  readonly limits?: string
  readonly env?: string
  readonly description?: string
}

/** One example: as a command line, and as JSON input where it can be said so. */
export type DocExample = {
  readonly description?: string
  readonly command: string
  /** The same call with its input as one JSON argument; absent where `command` is that already. */
  readonly jsonCommand?: string
  /** What the author says the tool answers. */
  readonly output?: { readonly value: unknown }
}

/** A code that a tool can fail with, and what to do about it. */
export type DocError = {
  readonly code: string
  readonly exit: number
  readonly message: string
  readonly advice: string
  readonly retryable: boolean
}

/** One tool as a command of the program. */
export type DocTool = {
  readonly name: string
  /** `prog pr list`, or `prog` for its only tool. */
  readonly command: string
  /** `<pattern> --sort <name|size> [options]`. */
  readonly usage: string
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly DocParameter[]
  readonly examples: readonly DocExample[]
  readonly errors: readonly DocError[]
  /** What the result is, in the manner of TypeScript. */
  readonly result?: string
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly dryRun: boolean
  readonly streaming: boolean
  readonly session: boolean
  /** Seconds. */
  readonly timeout?: number
}

/**
 * Tools that belong together: by their first tag, else by their group of commands. The title of the
 * rest is empty.
 */
export type DocGroup = {
  readonly title: string
  readonly slug: string
  readonly tools: readonly DocTool[]
}

/** Everything that documents say about a program. */
export type DocModel = {
  readonly name: string
  readonly version: string
  readonly description?: string
  /** The program is its only tool: no command stands before the arguments. */
  readonly single: boolean
  readonly tools: readonly DocTool[]
  readonly groups: readonly DocGroup[]
  readonly tags: readonly string[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  /** Only these tools of the program are shown, where not all are. */
  readonly only?: readonly string[]
  /** It is shown and never written to a file, so that nothing says how to renew it. */
  readonly unmarked?: true
}

/**
 * A file that is made from a program. `path` is relative, with slashes. A `block` goes between
 * marks in a file that people also write.
 */
export type GeneratedFile = { readonly path: string; readonly text: string; readonly block?: true }

/** What the documents of one kind are made from. */
export type DocSource = { readonly manifest: ToolsetManifest; readonly model: DocModel }

/** One kind of document. The first file is the main one. */
export type DocKind = {
  make(source: DocSource): readonly GeneratedFile[]
  /** A folder in which files of this kind may be left over from earlier. */
  ownFolder?(source: DocSource): string | undefined
  /** Each file is a main one. */
  readonly many?: true
}

/**
 * All that documents say about a program; with `only`, about these of its tools. Throws NOT_FOUND
 * for a tool that it does not have.
 */
export function buildDocModel(manifest: ToolsetManifest, only: readonly string[] = []): DocModel {
  const single = manifest.tools.length === 1
  const shown = only.length === 0 ? manifest.tools : pickTools(manifest, only)
  const pairs = shown.map((tool) => [tool, buildDocTool(manifest, tool, single)] as const)
  const { name, description } = manifest
  return compact({
    name,
    version: tidyLine(manifest.version),
    description: description?.trim() ? tidyText(description) : undefined,
    single,
    tools: pairs.map(([, doc]) => doc),
    groups: groupTools(pairs),
    tags: [...new Set(shown.flatMap(({ tags }) => tags.map(tidyLine)))].filter((tag) => tag !== ''),
    resources: manifest.resources.map((resource) => ({
      ...resource,
      uri: tidyLine(resource.uri),
      summary: tidyLine(resource.summary),
    })),
    prompts: manifest.prompts.map((prompt) => ({ ...prompt, summary: tidyLine(prompt.summary) })),
    only: only.length > 0 ? shown.map((tool) => tool.name) : undefined,
  })
}

/**
 * The tools of these names, in the order of the program. Throws NOT_FOUND for one that it does not
 * have.
 */
export function pickTools({ tools }: ToolsetManifest, only: readonly string[]): CommandManifest[] {
  const wanted = new Set(only.map((name) => findTool(tools, name)))
  return tools.filter((tool) => wanted.has(tool))
}

function findTool(tools: readonly CommandManifest[], name: string): CommandManifest {
  const found = tools.find((tool) => toLookupKey(tool.name) === toLookupKey(name))
  if (found) return found
  const names = tools.map((tool) => tool.name)
  const { message, meant } = describeUnknownName('tool', name, names)
  const known =
    names.length === 0
      ? 'This program has no tools'
      : `The tools are ${names.slice(0, 20).join(', ')}`
  throw new ToolError('NOT_FOUND', message, {
    field: 'tool',
    suggestion: meant
      ? { fix: `Use --tool ${meant}`, applicability: 'maybe_incorrect' }
      : { fix: known },
  })
}

/** All that documents say about one tool. `single`: the program has no other. */
function buildDocTool(manifest: ToolsetManifest, tool: CommandManifest, single: boolean): DocTool {
  const specs = toFlagSpecs(tool)
  const command = single ? manifest.name : [manifest.name, ...tool.path].join(' ')
  const { description, annotations, timeout } = tool
  const usage = tidyLine(formatUsageArguments(specs))
  return compact({
    name: tool.name,
    command,
    usage: specs.length === 0 ? '' : usage,
    summary: tidyLine(tool.summary),
    description:
      description?.trim() && description.trim() !== tool.summary.trim()
        ? tidyText(description)
        : undefined,
    parameters: buildDocParameters(specs),
    examples: buildDocExamples(manifest, tool, command, single),
    errors: Object.entries(describeDeclaredErrors(tool.errors)).map(
      ([code, { exit, message, advice, retryable }]) => ({
        code: tidyLine(code),
        exit,
        message: tidyLine(message),
        advice,
        retryable,
      }),
    ),
    result: tool.outputSchema ? describeShape(tool.outputSchema) : undefined,
    readOnly: annotations.readOnly === true,
    destructive: annotations.destructive === true,
    idempotent: annotations.idempotent === true,
    dryRun: tool.dryRun,
    streaming: tool.streaming,
    session: tool.session,
    timeout,
  })
}

function tidyOptional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : tidyLine(text)
}

const MAX_VALUE_CHARS = 200

/** The fields of a tool that people are meant to see, in the order of help. */
function buildDocParameters(specs: readonly FlagSpec[]): DocParameter[] {
  return specs
    .filter((spec) => !spec.hidden)
    .map((spec) => {
      return compact({
        field: spec.field,
        term: tidyLine(isShownArgument(spec) ? formatArgumentTerm(spec) : formatOptionTerm(spec)),
        short: spec.short,
        type: describeShape(spec.schema),
        required: spec.required,
        fallback:
          spec.default !== undefined && !isEmptyValue(spec.default)
            ? truncateText(tidyLine(JSON.stringify(spec.default) ?? ''), MAX_VALUE_CHARS)
            : undefined,
        choices: spec.choices?.map(tidyLine),
        limits: describeLimits(spec.schema),
        env: tidyOptional(spec.env),
        description: tidyOptional(spec.description),
      })
    })
}

/** The examples of a tool that call it, each as a command line and as JSON input. */
function buildDocExamples(
  manifest: ToolsetManifest,
  tool: CommandManifest,
  command: string,
  single: boolean,
): DocExample[] {
  return tool.examples.flatMap((example) => {
    const line = formatExampleCommand(manifest, tool, example, single)
    if (line === undefined) return []
    const input = example.input ?? getExampleInput(tool, example)
    const jsonCommand = input && `${command} ${quoteForShell(toSafeJson(input))}`
    return [
      compact({
        description: tidyOptional(example.description),
        command: escapeCommandPlaceholders(line),
        jsonCommand: jsonCommand === line ? undefined : jsonCommand,
        output: example.output === undefined ? undefined : { value: example.output },
      }),
    ]
  })
}

// What an author wrote as arguments was checked when the tool was compiled; what cannot be read is
// shown as it was written.
function getExampleInput(
  tool: CommandManifest,
  { args = [] }: Example,
): { readonly [field: string]: unknown } | undefined {
  try {
    const read = parseExampleArgs(tool, args)
    return read?.isInputOnly && isObject(read.input) ? read.input : undefined
  } catch {
    return undefined
  }
}

/**
 * Tools in groups, in the order in which the first of each appears; those that belong nowhere come
 * first.
 */
function groupTools(pairs: readonly (readonly [CommandManifest, DocTool])[]): DocGroup[] {
  const groups = new Map<string, DocTool[]>()
  for (const [tool, doc] of pairs) {
    const title = getGroupTitle(tool)
    groups.set(title, [...(groups.get(title) ?? []), doc])
  }
  const slugOf = createSlugger('index')
  const titles = [...groups.keys()].sort(
    (left, right) => Number(left !== '') - Number(right !== ''),
  )
  return titles.map((title) => ({
    title,
    slug: slugOf(title === '' ? 'general' : title),
    tools: groups.get(title)!,
  }))
}

function getGroupTitle({ tags, path }: CommandManifest): string {
  const tag = tags.map(tidyLine).find((text) => text !== '')
  return tag ?? path.slice(0, -1).join(' ')
}

/** The mark of a file that is ours altogether: whose it is, of what kind, and how to renew it. */
export function getMarkText(model: DocModel, kind: string): string {
  return `${getMarkStart(model.name, kind)} generated, edits are lost; renew with: ${getRenewCommand(model, kind)}`
}

/** The mark as a comment of Markdown. */
export function getMarkComment(model: DocModel, kind: string): string {
  return `<!-- ${getMarkText(model, kind)} -->`
}

/** The command that writes the files of a kind again. */
export function getRenewCommand({ name, only = [] }: DocModel, kind: string): string {
  return [name, 'docs', kind, ...only.flatMap((tool) => ['--tool', tool]), '--write'].join(' ')
}

/** True for a file that this program has generated as this kind of document. */
export function isMarked(text: string, program: string, kind: string): boolean {
  return new RegExp(
    `^(?:<!-- |\\.\\\\" | *"x-generated": ")${getMarkStart(program, kind)} generated`,
    'm',
  ).test(text)
}

/** The lines around a block in a file that people also write. */
export function getBlockMarks(program: string): { readonly begin: string; readonly end: string } {
  return { begin: `<!-- toolable:${program} begin -->`, end: `<!-- toolable:${program} end -->` }
}

function getMarkStart(program: string, kind: string): string {
  return `toolable:${program} docs ${kind}:`
}
