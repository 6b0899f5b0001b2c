import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openActions } from '../../../src/commands/ui/actions.ts'
import { openProjectTools } from '../../../src/commands/ui/project.ts'
import { openCatalogue } from '../../../src/commands/ui/catalogue.ts'
import { openProject } from '../../../src/commands/ui/serve-ui.ts'
import type { RunRow } from '../../../src/views/model/api.ts'
import type { ActionsSource, CatalogueSource } from '../../../src/views/server/backend.ts'
import type { Project } from '../../workflow/support.ts'
import { cleanEnvironment } from '../../support/run-program.ts'
import { TOOLABLE_PATH } from '../../support/toolable-program.ts'

/** The program that supervises runs. */

export type Opened = { readonly actions: ActionsSource; readonly catalogue: CatalogueSource }

const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  for (const one of opened) await one.close()
})

/** What a dashboard on a project does, without its pages. */
export function openDashboard(
  folder: string,
  {
    surroundings = {},
    env = {},
    execPath = process.execPath,
  }: {
    readonly execPath?: string
    readonly surroundings?: { readonly config?: string; readonly folder?: readonly string[] }
    readonly env?: { readonly [name: string]: string }
  } = {},
): Opened {
  const project = openProject({
    cwd: folder,
    env: cleanEnvironment(env),
    now: Date.now,
    surroundings,
    started: { execPath, execArgv: [], script: TOOLABLE_PATH },
  })
  const tools = openProjectTools(project)
  opened.push(tools)
  const catalogue = openCatalogue({
    project,
    tools,
    rowsOf: () => readRows(join(folder, '.runs')),
    version: '1.2.3',
    readOnly: false,
    epoch: 'e1',
  })
  return { actions: openActions(project, tools), catalogue }
}

/** The runs of a folder as rows, from what is on record. */
export function readRows(runs: string): RunRow[] {
  const ids = existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith('r-')) : []
  return ids.map((id): RunRow => {
    const request = JSON.parse(readFileSync(join(runs, id, 'run.json'), 'utf8')) as {
      readonly tool: string
      readonly created: string
      readonly command?: string
      readonly workflow?: { readonly definition: { readonly name: string } }
    }
    const events = existsSync(join(runs, id, 'events.jsonl'))
      ? readFileSync(join(runs, id, 'events.jsonl'), 'utf8')
          .trim()
          .split('\n')
          .map(
            (line) =>
              JSON.parse(line) as {
                readonly type: string
                readonly ts: string
                readonly state?: RunRow['state']
                readonly duration_s?: number
              },
          )
      : []
    const end = events.findLast(({ type }) => type === 'runner_end')
    return {
      run_id: id,
      tool: request.tool,
      state: end?.state ?? 'running',
      attempt: 1,
      created: request.created,
      questions: 0,
      artifacts: 0,
      ...(request.workflow && { workflow: request.workflow.definition.name }),
      ...(end && { ended: end.ts, duration_s: end.duration_s ?? 0 }),
    }
  })
}

/** Waits until a run is over; gives its last line. */
export async function untilOver(
  project: Pick<Project, 'toolable' | 'log'>,
  id: string,
): Promise<{ readonly [field: string]: any }> {
  await project.toolable(['watch', id])
  return project.log(id).at(-1)!
}

/** The failure of a promise that has to fail. */
export async function failureOf(promise: Promise<unknown>): Promise<any> {
  return promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}
