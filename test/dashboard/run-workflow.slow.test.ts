import { appendFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeProject } from '../runner/support.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'

const LONG = { interval: 50 }
const project = makeProject({ 'says-what-it-is-told.py': 'description: Says what it is told' })
mkdirSync(join(project.folder, 'workflows'))
project.write(
  'workflows/release.yaml',
  `name: release
summary: Scan, convert, ask, publish
input: {files: 'string[]'}
steps:
  - {name: scan, command: says_what_it_is_told}
  - name: both
    tasks:
      - {name: left, command: says_what_it_is_told}
      - {name: right, command: says_what_it_is_told, on_error: continue, retry: 0}
  - name: pages
    each: {items: '\${{ input.files }}', as: file, do: [{name: copy, command: says_what_it_is_told}]}
  - {name: never, when: 'input.files.length > 9', command: says_what_it_is_told}
  - {name: approve, type: ai_decision, decision_type: approve, instruction: 'Publish?', options: [publish, leave]}
finally:
  - {name: clean, command: says_what_it_is_told}
`,
)
// Tells the tool of a step what to say, as soon as its run is there.
const say = async (id: string, task: string, ...lines: readonly object[]): Promise<void> => {
  const child = (): string | undefined =>
    project.log(id).find((line) => line.type === 'task_started' && line['task_id'] === task)?.[
      'child_run_id'
    ] as string | undefined
  await expect.poll(child, LONG).toMatch(/^r-/)
  const workspace = join(project.run(child()), 'work')
  await expect.poll(() => existsSync(workspace), LONG).toBe(true)
  appendFileSync(
    join(workspace, 'told.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  )
}
const DONE = { type: 'result', status: 'ok', result: { done: true } }
const dashboard = await startDashboard(project.folder)

describe('the graph of a workflow that runs', () => {
  test('follows it node by node, from the first to the answer and the end [10.run-graph]', async () => {
    const started = await project.toolable([
      'workflow',
      'run',
      '--detach',
      'release',
      JSON.stringify({ files: ['a', 'b', 'c'] }),
    ])
    expect(started.stderr).toBe('')
    const id = started.json.result.run_id as string
    const page = await openPage(dashboard, { path: `/runs/${id}`, height: 1300 })
    const graph = page.getByRole('group', { name: 'Graph of the steps' })
    const node = (name: string, state: string) =>
      graph.getByRole('button', { name: new RegExp(`^${name}, ${state}`) })
    await node('scan', 'running').waitFor()
    await node('left', 'pending').waitFor()
    await say(id, 'scan', DONE)
    await node('scan', 'ok').waitFor()
    await node('left', 'running').waitFor()
    await node('right', 'running').waitFor()
    await say(id, 'both/left', { type: 'start' }, { type: 'progress', pct: 40, msg: 'page 4' })
    await node('left', 'running').getByText('40 %').waitFor()
    await say(id, 'both/left', DONE)
    await node('left', 'ok').waitFor()
    await say(id, 'both/right', {
      type: 'error',
      code: 'E_INPUT_NOT_FOUND',
      msg: 'there is no page 7',
    })
    await node('right', 'failed').waitFor()
    await node('copy', 'running').getByText('0 of 3').waitFor()
    await say(id, 'pages/1/copy', DONE)
    await node('copy', 'running').getByText('1 of 3').waitFor()
    await keepPicture(page, 'run-graph-live')
    await say(id, 'pages/0/copy', DONE)
    await say(id, 'pages/2/copy', DONE)
    await node('copy', 'ok').getByText('3 of 3').waitFor()
    await node('never', 'skipped').waitFor()
    await node('approve', 'waiting').waitFor()
    await keepPicture(page, 'run-graph-waiting')
    await page
      .getByRole('region', { name: 'Waiting for you' })
      .getByRole('button', { name: 'publish' })
      .click()
    await node('approve', 'ok').waitFor()
    await node('clean', 'running').waitFor()
    await say(id, 'finally/clean', DONE)
    await node('clean', 'ok').waitFor()
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor()

    // A step is selected everywhere.
    await node('right', 'failed').click()
    const panel = page.getByRole('complementary', { name: 'Step both/right' })
    await panel.getByText('there is no page 7').waitFor()
    expect(
      await page
        .getByRole('list', { name: 'Rows of the timeline' })
        .getByRole('button', { name: 'right, failed' })
        .getAttribute('aria-pressed'),
    ).toBe('true')
    await keepPicture(page, 'run-graph-done')
    await panel.getByRole('button', { name: 'Its events' }).click()
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('E_INPUT_NOT_FOUND').first().waitFor()
    expect(await events.getByText('both/left').count()).toBe(0)
    await page.getByRole('tab', { name: 'Graph' }).click()
    await panel.getByRole('link', { name: /^r-/ }).click()
    await page.getByText('step both/right of').waitFor()
    await page.getByRole('tab', { name: 'Children & parent' }).click()
    await page
      .getByRole('list', { name: 'Runs around this one' })
      .getByRole('link', { name: id })
      .click()
    await page.getByRole('tab', { name: 'Children & parent' }).click()
    await expect
      .poll(
        () =>
          page
            .getByRole('list', { name: 'Runs around this one' })
            .getByRole('link', { name: /^r-/ })
            .count(),
        LONG,
      )
      .toBe(8)
  })
})
