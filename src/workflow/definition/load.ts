/**
 * Loads workflows from files (YAML, JSON, code), folders and values.
 */

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { toToolError } from '../../core/errors.ts'
import type { LocatedDocument } from '../../protocol/documents.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { LoadContext, Problem } from '../../registry/source.ts'
import { isPathInside, resolveRealPath } from '../../util/files.ts'
import { quoteForShell } from '../../util/text.ts'
import { KIBIBYTE } from '../../util/units.ts'
import type { LoadedWorkflow } from '../lookup.ts'
import { isBuiltWorkflow } from '../workflow-types.ts'
import type { Workflow } from './model.ts'
import { iterateRawSteps } from './parse-steps.ts'
import type { ParseSession, RawWorkflow } from './parse-workflow.ts'
import { normalizeAndCheckWorkflow, parseWorkflow } from './parse-workflow.ts'
import type { DefinitionFinding, WorkflowProblem } from './reader.ts'
import { createProblemsError, locateFindings } from './reader.ts'

const CODE_FILE_PATTERN = /\.[cm]?[jt]s$/i
const MAX_FILE_BYTES = 256 * KIBIBYTE
const MAX_FILES = 100

/**
 * Loads a workflow from its file, YAML, JSON or code, and the files of the workflows in it. Those
 * must be in the working directory or in the folder of the file. Throws INVALID_PATH when there is
 * no file, CONFIG with every problem.
 */
export async function loadWorkflow(
  path: string,
  { cwd: folder = '.' }: { readonly cwd?: string } = {},
): Promise<Workflow> {
  const cwd = resolve(folder)
  const file = resolve(cwd, path)
  const first = readDefinitionText(file, path)
  if ('problem' in first)
    throw new ToolError('INVALID_PATH', `the workflow ${path} ${first.problem}`, {
      suggestion: first.fix ?? 'Give a file that exists: flow.yaml or flow.json',
    })
  const shownFile = toShownPath(file, cwd)
  if (CODE_FILE_PATTERN.test(file))
    return (await import('./import-workflow.ts')).importWorkflow(file, shownFile)
  const files = new WorkflowFiles(cwd, file)
  const raw = await files.read(file, first.text)
  return toCheckedWorkflow(raw, (reference, from) => files.find(reference, from.file ?? shownFile))
}

class WorkflowFiles {
  private readonly root: string
  /** By the path of the file; a text says why there is none. */
  private readonly known = new Map<string, RawWorkflow | string>()

  constructor(
    private readonly cwd: string,
    file: string,
  ) {
    this.root = realpathSync(isPathInside(cwd, file) ? cwd : dirname(file))
  }

  /** Reads a file and all files that it names, because parsing does not wait. */
  async read(file: string, text: string): Promise<RawWorkflow> {
    const raw = await readRawWorkflow(toShownPath(file, this.cwd), text)
    this.known.set(file, raw)
    for (const reference of listNestedFiles(raw.value)) {
      const named = resolve(dirname(file), reference)
      if (this.known.has(named)) continue
      const found = this.open(named)
      if ('problem' in found) this.known.set(named, `the workflow ${reference} ${found.problem}`)
      else await this.read(named, found.text)
    }
    return raw
  }

  find(reference: string, from: string): RawWorkflow | string {
    return (
      this.known.get(resolve(dirname(resolve(this.cwd, from)), reference)) ??
      `the workflow ${reference} was not read`
    )
  }

  private open(file: string): { readonly text: string } | { readonly problem: string } {
    if (this.known.size >= MAX_FILES)
      return { problem: `is one too many: a workflow may be made of ${MAX_FILES} files` }
    // A foreign definition must not be able to quote any file of the machine in a message.
    const real = resolveRealPath(file)
    if (real !== undefined && !isPathInside(this.root, real))
      return { problem: `lies outside ${this.root}` }
    return readDefinitionText(file, file)
  }
}

function readDefinitionText(
  file: string,
  shown: string,
): { readonly text: string } | { readonly problem: string; readonly fix?: string } {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return { problem: 'does not exist' }
  if (!stats.isFile()) return { problem: 'is no file' }
  if (stats.size > MAX_FILE_BYTES)
    return {
      problem: `has ${stats.size} bytes; a definition may have ${MAX_FILE_BYTES}`,
      fix: 'Make several workflows of it: a step takes another one by workflow: ./other.yaml',
    }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) }
  } catch (error) {
    return error instanceof TypeError
      ? { problem: 'is not UTF-8', fix: 'Save it as UTF-8' }
      : {
          problem: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? shown}`,
          fix: 'Give your user the right to read it',
        }
  }
}

function toShownPath(file: string, cwd: string): string {
  return isPathInside(cwd, file) ? relative(cwd, file) : file
}

function listNestedFiles(value: unknown): readonly string[] {
  return [...iterateRawSteps(value)].flatMap(({ workflow }) =>
    typeof workflow === 'string' ? [workflow] : [],
  )
}

/**
 * Makes a workflow of the text of a file, YAML or JSON, that names no other files. Throws CONFIG
 * with every problem, its line and its path.
 */
export async function parseWorkflowText(file: string, text: string): Promise<Workflow> {
  return toCheckedWorkflow(
    await readRawWorkflow(file, text),
    () => 'a file can be named only where files are read: use loadWorkflow',
  )
}

async function readRawWorkflow(file: string, text: string): Promise<RawWorkflow> {
  const { value, locate } = await readDocument(file, text)
  return { value, source: { file, locate }, name: getDefaultName(file) }
}

/** Checks raw data and makes a workflow of it. */
async function toCheckedWorkflow(
  raw: RawWorkflow,
  nested: ParseSession['nested'],
): Promise<Workflow> {
  const findings: DefinitionFinding[] = []
  const workflow = parseWorkflow(raw, { findings, nested, counted: { steps: 0 } })
  if (workflow && findings.length === 0) {
    const checks = await import('./checks.ts')
    findings.push(...checks.findInvalidSchemas(workflow, raw.source))
    if (findings.length === 0) findings.push(...(await checks.checkNestedInputs(workflow)))
    if (findings.length === 0) findings.push(...(await checks.findInvalidDefaults(workflow)))
  }
  if (!workflow || findings.length > 0)
    throw createProblemsError(await locateFindings(findings), findings.length)
  return workflow
}

async function readDocument(file: string, text: string): Promise<LocatedDocument> {
  const isJson =
    /\.json$/i.test(file) || (!/\.ya?ml$/i.test(file) && text.trimStart().startsWith('{'))
  if (isJson) return (await import('../../protocol/documents.ts')).readJsonDocument(file, text)
  return (await import('../../protocol/yaml.ts')).readYamlDocument(file, text)
}

// `nightly build.workflow.yaml` is `nightly-build`.
function getDefaultName(file: string): string {
  const plain = basename(file, extname(file))
    .replace(/\.workflow$/, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
  return plain === '' || plain === '__proto__' ? 'workflow' : plain
}

/**
 * The definition behind what callers give: what `workflow()` made, or data with every short form.
 * Throws CONFIG with every problem.
 */
export async function toDefinition(given: unknown): Promise<Workflow> {
  return isBuiltWorkflow(given) ? given.definition() : normalizeAndCheckWorkflow(given)
}

type LoadedWorkflows = {
  readonly workflows: readonly LoadedWorkflow[]
  readonly problems: readonly Problem[]
}

/** Reads one place that workflows come from. Never throws: what does not work is a problem. */
export type LoadWorkflows = (source: string, context: LoadContext) => Promise<LoadedWorkflows>

const WORKFLOW_FILE_PATTERN = /^[^.].*\.(ya?ml|json)$/i

/** A workflow in a file. */
export function createFileLoader(path: string): LoadWorkflows {
  return async (source, { cwd }) => {
    const file = resolve(cwd, path)
    try {
      return { workflows: [{ workflow: await loadWorkflow(file, { cwd }), file }], problems: [] }
    } catch (error) {
      return refuse(...toProblems(source, toShownPath(file, resolve(cwd)), error))
    }
  }
}

/** Workflows in the files of a folder; what lies in folders inside it belongs to them. */
export function createFolderLoader(path: string): LoadWorkflows {
  return async (source, context) => {
    const folder = resolve(context.cwd, path)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return refuse({
        source,
        location: path,
        reason: 'missing',
        message: `there is no folder ${path}`,
        fix: `Check the path, or: mkdir -p ${quoteForShell(path)}`,
        severity: 'error',
      })
    const files = readdirSync(folder)
      .filter((name) => WORKFLOW_FILE_PATTERN.test(name))
      .sort()
    if (files.length === 0)
      return refuse({
        source,
        location: path,
        reason: 'no-tools',
        message: `${path} holds no workflow: no file there ends in .yaml, .yml or .json`,
        fix: 'Put workflows into it, or take it out',
        severity: 'warning',
      })
    const loaded = await Promise.all(
      files.map((name) => createFileLoader(join(folder, name))(source, context)),
    )
    return {
      workflows: loaded.flatMap(({ workflows }) => workflows),
      problems: loaded.flatMap(({ problems }) => problems),
    }
  }
}

/** A workflow that was made in this process. */
export function createValueLoader(value: unknown): LoadWorkflows {
  return async (source) => {
    try {
      return { workflows: [{ workflow: await toDefinition(value) }], problems: [] }
    } catch (error) {
      const { name } = value as { readonly name?: unknown }
      const location =
        typeof name === 'string' ? `workflow '${name}'` : 'a workflow of this process'
      return refuse(...toProblems(source, location, error))
    }
  }
}

function refuse(...problems: readonly Problem[]): LoadedWorkflows {
  return { workflows: [], problems }
}

// One for each problem, at its line.
function toProblems(source: string, location: string, thrown: unknown): readonly Problem[] {
  const error = toToolError(thrown)
  const details = error.details as { readonly problems?: readonly WorkflowProblem[] } | undefined
  const found = details?.problems ?? []
  if (found.length === 0)
    return [
      {
        source,
        location,
        reason: error.code === 'INVALID_PATH' ? 'missing' : 'definition',
        message: error.message,
        fix: error.suggestion?.fix ?? 'Mend the definition',
        severity: 'error',
      },
    ]
  return found.map(({ file = location, line, path, message, fix }) => ({
    source,
    location: line === undefined ? file : `${file}:${line}`,
    reason: 'definition',
    message: path === '' ? message : `${path}: ${message}`,
    fix: fix ?? `Mend it, then: toolable workflow validate ${quoteForShell(file)}`,
    severity: 'error',
  }))
}
