import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeProject } from '../../runner/support.ts'
import type { Project } from '../../runner/support.ts'
import type { Dashboard } from './dashboard.ts'

const LONG = { interval: 50 }

/** A run of a tool that says what the test tells it to say. */
export type ToldRun = {
  readonly id: string
  say(...lines: readonly { readonly type: string; readonly [field: string]: unknown }[]): void
  /** Resolves when the run is in this state on record. */ ends(state: string): Promise<void>
  /** Resolves when its log has a line with this text. */ hears(text: string): Promise<void>
}

/** A project whose only tool says what it is told. */
export function makeToldProject(): Project {
  return makeProject({ 'says-what-it-is-told.py': 'description: Says what it is told' })
}

/**
 * Starts a run of that tool on its own, and tells it its first lines. A dashboard that is there
 * costs one process less than the command.
 */
export async function startTold(
  project: Project,
  dashboard: Pick<Dashboard, 'post'> | undefined,
  ...lines: readonly { readonly type: string; readonly [field: string]: unknown }[]
): Promise<ToldRun> {
  const id = dashboard
    ? ((await dashboard.post('/api/runs', { tool: 'tools.says_what_it_is_told', input: {} }))
        .run_id as string)
    : await startByCommand(project)
  const workspace = join(project.run(id), 'work')
  await expect.poll(() => existsSync(workspace), LONG).toBe(true)
  const say: ToldRun['say'] = (...more) =>
    appendFileSync(
      join(workspace, 'told.jsonl'),
      more.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
  say({ type: 'start' }, ...lines)
  const hears: ToldRun['hears'] = async (text) =>
    void (await expect
      .poll(() => project.log(id).some((line) => JSON.stringify(line).includes(text)), LONG)
      .toBe(true))
  await hears('"type":"start"')
  return {
    id,
    say,
    hears,
    ends: async (state) =>
      void (await expect
        .poll(() => project.log(id).find(({ type }) => type === 'runner_end')?.['state'], LONG)
        .toBe(state)),
  }
}

async function startByCommand(project: Project): Promise<string> {
  const started = await project.toolable(['run', '--detach', 'says_what_it_is_told'])
  expect(started.stderr).toBe('')
  return started.json.result.run_id as string
}

/** A question as the tool asks it. */
export function question(
  context: { readonly prompt: string; readonly [field: string]: unknown },
  action = 'input',
): { readonly type: string; readonly [field: string]: unknown } {
  return { type: 'action_required', action, context }
}
