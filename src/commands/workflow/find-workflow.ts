import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { loadWorkflow } from '../../workflow/definition/load-workflow.ts'
import type { Workflow } from '../../workflow/definition/workflow-type.ts'
import { findFile } from '../config/find-file.ts'

const FOLDER = 'workflows'
const ENDINGS = ['.yaml', '.yml', '.json']

/** The workflow that a word means: a file, or the name of one in the folder `workflows` of the project. Throws NOT_FOUND, and CONFIG with path and line for a definition that is wrong. */
export async function findWorkflow(word: string, { cwd, config }: { readonly cwd: string; readonly config?: string }): Promise<{ readonly workflow: Workflow; readonly file: string }> {
  const file = existsSync(resolve(cwd, word)) || /[/\\]|\.(ya?ml|json)$/i.test(word) ? resolve(cwd, word) : findNamed(word, projectOf(cwd, config))
  return { workflow: await loadWorkflow(relative(cwd, file) || file, { cwd }), file }
}

function projectOf(cwd: string, config: string | undefined): string {
  const file = findFile(cwd, config)
  return file === undefined ? cwd : dirname(file)
}

function findNamed(name: string, project: string): string {
  const folder = join(project, FOLDER)
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => ENDINGS.some((ending) => file.endsWith(ending))) : []
  const found = ENDINGS.map((ending) => `${name}${ending}`).find((file) => files.includes(file))
  if (found !== undefined) return join(folder, found)
  const { message, meant } = unknownName('workflow', name, files.map((file) => file.replace(/\.[a-z]+$/, '')))
  throw new ToolError('NOT_FOUND', message, { field: 'workflow', suggestion: meant ? `Use '${meant}'` : `Give a file, or the name of one in ${folder}` })
}
