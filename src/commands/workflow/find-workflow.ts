import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { loadWorkflow } from '../../workflow/definition/load-workflow.ts'
import type { RegistryOptions, WorkflowsOptions } from '../../workflow/source/options.ts'
import { findFile } from '../config/find-file.ts'
import { readConfig } from '../config/load.ts'

/** Where workflows lie that are called by their names: beside toolable.yaml, else in the directory of the caller. */
export const WORKFLOW_FOLDER = 'workflows'

const ENDING = /(\.workflow)?\.(ya?ml|json)$/i
// Named one by one: nobody runs code because it lies in a folder.
const CODE_ENDING = /(\.workflow)?\.[cm]?[jt]s$/i

/** The file of a workflow: a path, or the name of one that the configuration lists or that lies in the folder `workflows`. Throws INVALID_PATH for a path that leads nowhere and NOT_FOUND for an unknown name. */
export async function findWorkflow(
  given: string,
  { cwd, config }: { readonly cwd: string; readonly config?: string | undefined },
): Promise<string> {
  if (statSync(resolve(cwd, given), { throwIfNoEntry: false })?.isFile()) return given
  if (ENDING.test(given) || CODE_ENDING.test(given) || /[/\\]/.test(given))
    throw new ToolError('INVALID_PATH', `workflow: there is no file '${given}'`, {
      field: 'workflow',
      suggestion: 'Give a file that exists, or the name of a workflow in the folder workflows',
    })
  const found = await listWorkflowFiles({ cwd, config })
  const file = found.find(({ name }) => name === given) ?? (await findByOwnName(given, found, cwd))
  if (file) return relative(cwd, file.path)
  throw new ToolError(
    'NOT_FOUND',
    unknownName(
      'workflow',
      given,
      found.map(({ name }) => name),
    ).message,
    {
      field: 'workflow',
      suggestion:
        found.length === 0
          ? `Give a file, or put ${given}.yaml into the folder ${WORKFLOW_FOLDER}`
          : `The workflows here are ${found.map(({ name }) => name).join(', ')}`,
    },
  )
}

// A workflow that is called otherwise than its file is listed by its own name.
async function findByOwnName(
  given: string,
  files: readonly WorkflowFile[],
  cwd: string,
): Promise<WorkflowFile | undefined> {
  for (const file of files) {
    const workflow = await loadWorkflow(file.path, { cwd }).catch(() => undefined)
    if (workflow?.name === given) return file
  }
  return undefined
}

type WorkflowFile = { readonly name: string; readonly path: string }

/** The files that the configuration lists, and those in the folder `workflows`, by the names that they are called by. */
export async function listWorkflowFiles({
  cwd,
  config,
}: {
  readonly cwd: string
  readonly config?: string | undefined
}): Promise<readonly WorkflowFile[]> {
  const configuration = findFile(cwd, config)
  const project = configuration === undefined ? cwd : dirname(configuration)
  const { workflows = [] }: RegistryOptions =
    configuration === undefined ? {} : await readConfig(configuration)
  const listed = workflows.map((item) =>
    resolve(project, typeof item === 'string' ? item : (item as WorkflowsOptions).path),
  )
  const files = [...listed, join(project, WORKFLOW_FOLDER)].flatMap((path) =>
    ENDING.test(path) || CODE_ENDING.test(path) ? [path] : listFolder(path),
  )
  return [...new Set(files)].map((path) => ({
    name: basename(path).replace(ENDING, '').replace(CODE_ENDING, ''),
    path,
  }))
}

function listFolder(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((file) => ENDING.test(file) && !file.startsWith('.'))
    .sort()
    .map((file) => join(folder, file))
}
