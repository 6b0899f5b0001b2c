import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import type { RawWorkflow } from './draft-workflow.ts'
import { rawSteps } from './raw-steps.ts'
import { finish, readRaw } from './read-workflow.ts'
import type { Workflow } from './workflow-type.ts'

const CODE = /\.[cm]?[jt]s$/i
const LARGEST_FILE = 256 * 1024
const MOST_FILES = 100

/** What relative paths mean; default: the directory of the process. */
export type LoadOptions = { readonly cwd?: string }

/** Reads a workflow from its file, YAML, JSON or code, and the files of the workflows in it. Those have to lie in the folder where the caller stands, or in that of the file. Throws INVALID_PATH where there is no file, CONFIG with every problem. */
export async function loadWorkflow(
  path: string,
  { cwd = '.' }: LoadOptions = {},
): Promise<Workflow> {
  const file = resolve(cwd, path)
  const first = readText(file, path)
  if ('problem' in first)
    throw new ToolError('INVALID_PATH', `the workflow ${path} ${first.problem}`, {
      suggestion: first.fix ?? 'Give a file that exists: flow.yaml or flow.json',
    })
  const shownFile = isInside(resolve(cwd), file) ? relative(resolve(cwd), file) : file
  if (CODE.test(file))
    return (await import('../build/import-workflow.ts')).importWorkflow(file, shownFile)
  const files = new FileSet(resolve(cwd), file)
  const raw = await files.read(file, first.text, shownFile)
  return finish(raw, (reference, from) => files.find(reference, from.file ?? shownFile))
}

class FileSet {
  private readonly cwd: string
  private readonly root: string
  /** By the real path of the file; a text says why there is none. */
  private readonly known = new Map<string, RawWorkflow | string>()

  constructor(cwd: string, file: string) {
    this.cwd = cwd
    this.root = realpathSync(isInside(cwd, file) ? cwd : dirname(file))
  }

  /** Reads a file and all that it names, before anybody looks at what they hold: checking waits for nothing. */
  async read(file: string, text: string, shown: string): Promise<RawWorkflow> {
    const raw = await readRaw(shown, text)
    this.known.set(file, raw)
    for (const reference of listReferences(raw.value)) {
      const named = resolve(dirname(file), reference)
      if (this.known.has(named)) continue
      const found = this.open(named)
      if ('problem' in found) this.known.set(named, `the workflow ${reference} ${found.problem}`)
      else await this.read(named, found.text, this.show(named))
    }
    return raw
  }

  find(reference: string, from: string): RawWorkflow | string {
    return (
      this.known.get(resolve(dirname(resolve(this.cwd, from)), reference)) ??
      `the workflow ${reference} was not read`
    )
  }

  private show(file: string): string {
    return isInside(this.cwd, file) ? relative(this.cwd, file) : file
  }

  private open(file: string): { readonly text: string } | { readonly problem: string } {
    if (this.known.size >= MOST_FILES)
      return { problem: `is one too many: a workflow may be made of ${MOST_FILES} files` }
    const stats = statSync(file, { throwIfNoEntry: false })
    // A definition of somebody else should not be able to have any file of the machine quoted in a message.
    if (stats && !isInside(this.root, realpathSync(file)))
      return { problem: `lies outside ${this.root}` }
    return readText(file, file)
  }
}

function readText(
  file: string,
  shown: string,
): { readonly text: string } | { readonly problem: string; readonly fix?: string } {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return { problem: 'does not exist' }
  if (!stats.isFile()) return { problem: 'is no file' }
  if (stats.size > LARGEST_FILE)
    return {
      problem: `has ${stats.size} bytes; a definition may have ${LARGEST_FILE}`,
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

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

function listReferences(value: unknown): readonly string[] {
  return [...rawSteps(value)].flatMap(({ workflow }) =>
    typeof workflow === 'string' ? [workflow] : [],
  )
}
