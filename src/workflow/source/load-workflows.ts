import { readdirSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { toToolError } from '../../call/failure.ts'
import type { Problem } from '../../registry/found.ts'
import type { LoadContext } from '../../registry/source.ts'
import type { WorkflowProblem } from '../definition/finding.ts'
import { loadWorkflow } from '../definition/load-workflow.ts'
import { asDefinition } from '../build/as-definition.ts'
import type { Workflow } from '../definition/workflow-type.ts'

/** A workflow that was found, and where. */
export type LoadedWorkflow = {
  readonly workflow: Workflow
  /** Absent for one that was made in this process. */ readonly file?: string
}
export type LoadedPart = {
  readonly workflows: readonly LoadedWorkflow[]
  readonly problems: readonly Problem[]
}

/** Reads one place that workflows come from. Never throws: what does not work is a problem. */
export type LoadPart = (source: string, context: LoadContext) => Promise<LoadedPart>

const NAMES = /^[^.].*\.(ya?ml|json)$/i

/** A workflow in a file. */
export function loadFile(path: string): LoadPart {
  return async (source, { cwd }) => {
    const file = resolve(cwd, path)
    try {
      return { workflows: [{ workflow: await loadWorkflow(file, { cwd }), file }], problems: [] }
    } catch (error) {
      return { workflows: [], problems: problemsOf(source, shownPath(file, cwd), error) }
    }
  }
}

/** Workflows in the files of a folder; what lies in folders inside it belongs to them. */
export function loadFolder(path: string): LoadPart {
  return async (source, context) => {
    const folder = resolve(context.cwd, path)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return { workflows: [], problems: [missing(source, path)] }
    const files = readdirSync(folder)
      .filter((name) => NAMES.test(name))
      .sort()
    if (files.length === 0) return { workflows: [], problems: [empty(source, path)] }
    const loaded = await Promise.all(
      files.map((name) => loadFile(join(folder, name))(source, context)),
    )
    return {
      workflows: loaded.flatMap(({ workflows }) => workflows),
      problems: loaded.flatMap(({ problems }) => problems),
    }
  }
}

/** A workflow that was made in this process. */
export function loadValue(value: unknown): LoadPart {
  return async (source) => {
    try {
      return { workflows: [{ workflow: await asDefinition(value) }], problems: [] }
    } catch (error) {
      const { name } = value as { readonly name?: unknown }
      return {
        workflows: [],
        problems: problemsOf(
          source,
          typeof name === 'string' ? `workflow '${name}'` : 'a workflow of this process',
          error,
        ),
      }
    }
  }
}

// One for each thing that is wrong, at its line.
function problemsOf(source: string, location: string, thrown: unknown): readonly Problem[] {
  const error = toToolError(thrown)
  const told =
    (error.details as { readonly problems?: readonly WorkflowProblem[] } | undefined)?.problems ??
    []
  if (told.length === 0)
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
  return told.map(({ file = location, line, path, message, fix }) => ({
    source,
    location: line === undefined ? file : `${file}:${line}`,
    reason: 'definition',
    message: path === '' ? message : `${path}: ${message}`,
    fix: fix ?? `Mend it, then: toolable workflow validate ${quoteForShell(file)}`,
    severity: 'error',
  }))
}

function missing(source: string, location: string): Problem {
  return {
    source,
    location,
    reason: 'missing',
    message: `there is no folder ${location}`,
    fix: `Check the path, or: mkdir -p ${quoteForShell(location)}`,
    severity: 'error',
  }
}

function empty(source: string, location: string): Problem {
  return {
    source,
    location,
    reason: 'no-tools',
    message: `${location} holds no workflow: no file there ends in .yaml, .yml or .json`,
    fix: 'Put workflows into it, or take it out',
    severity: 'warning',
  }
}

function shownPath(file: string, cwd: string): string {
  const way = relative(cwd, file)
  return way === '' || way.startsWith('..') || isAbsolute(way) ? file : way
}
