/**
 * `toolable init`: a project with its first tool. Writes nothing where a file exists and differs.
 */

import { lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import type { Context } from '../protocol/context.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import type { NewFile, TemplateLanguage } from './init-files.ts'
import { writeNewFiles } from './init-files.ts'

/** What `init` is asked. */
export type InitInput = {
  readonly folder: string
  readonly language: TemplateLanguage
  readonly name: string
  readonly agent?: readonly 'claude'[]
}

/** What `init` gives. */
export type InitResult = {
  readonly folder: string
  readonly written: readonly string[]
  /** Files that were there already, exactly so. */
  readonly unchanged: readonly string[]
  /** What to type next. */
  readonly next: readonly string[]
}

/**
 * Writes a project with its first tool. Throws CONFLICT, before anything is written, where a file
 * is there that differs.
 */
export async function initProject(
  { folder: given, language, name, agent = [] }: InitInput,
  ctx: Context,
): Promise<InitResult> {
  const folder = resolve(ctx.cwd, given)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new ToolError('INVALID_PATH', `folder: '${given}' is not a folder`, {
      field: 'folder',
      suggestion: 'Give a folder, or the name of a new one',
    })
  const files = await planFiles(language, name, agent)
  const standing = files.filter(({ path }) =>
    lstatSync(join(folder, path), { throwIfNoEntry: false }),
  )
  const differing = standing.filter(({ path, text }) => readFileText(join(folder, path)) !== text)
  if (differing.length > 0) throw createConflictError(differing, name)
  const wanted = files.filter((file) => !standing.includes(file))
  for (const { path } of wanted) ctx.plan('write', join(folder, path))
  if (!ctx.dryRun) {
    mkdirSync(folder, { recursive: true })
    writeNewFiles(folder, wanted)
  }
  return {
    folder,
    written: wanted.map(({ path }) => path),
    unchanged: standing.map(({ path }) => path),
    next: nextCommands(folder === ctx.cwd ? '' : given, language, name),
  }
}

async function planFiles(
  language: TemplateLanguage,
  name: string,
  agents: readonly 'claude'[],
): Promise<readonly NewFile[]> {
  const [{ listProjectFiles }, { listFirstToolFiles }] = await Promise.all([
    import('./init-files.ts'),
    import('./init-files.ts'),
  ])
  const forAgents = agents.length > 0 ? (await import('./init-files.ts')).listClaudeFiles() : []
  return [...listProjectFiles(), ...listFirstToolFiles(language, name), ...forAgents]
}

function nextCommands(way: string, language: TemplateLanguage, name: string): readonly string[] {
  return [
    ...(way === '' ? [] : [`cd ${quoteForShell(way)}`]),
    ...(language === 'ts' ? ['npm install toolable'] : []),
    './tool --list',
    `./tool ${name} --who World`,
    'toolable runs show latest',
  ]
}

// What is no ordinary file differs from every text.
function readFileText(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

function createConflictError(files: readonly NewFile[], name: string): ToolError {
  const paths = files.map(({ path }) => path)
  const ofTool = paths.every((path) => dirname(path).includes(name))
  return new ToolError(
    'CONFLICT',
    `${paths.length === 1 ? 'this file is' : 'these files are'} there already, and differ${paths.length === 1 ? 's' : ''}: ${paths.join(', ')}`,
    {
      details: { files: paths },
      suggestion: ofTool
        ? 'Give the tool another name: --name <name>'
        : 'Move them away, or begin in another folder',
    },
  )
}

/** What was written, and what to type next. */
export const renderInit: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const { written, unchanged, next } = result as InitResult
  const rows = [
    ...written.map((path) => `${paint('green', 'written')}    ${cleanLine(path)}`),
    ...unchanged.map((path) => `${paint('dim', 'unchanged')}  ${cleanLine(path)}`),
  ]
  return [...rows, '', 'Next:', ...next.map((command) => `  ${cleanLine(command)}`), ''].join('\n')
}
