import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../support/run-program.ts'
import { makeRuns } from '../views/support/make-runs.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { makeToldProject, startTold } from './support/told-run.ts'
import { WORKFLOW, makeToolProject } from './support/tool-project.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

const told = makeToldProject()
const project = makeToolProject(
  {
    'workflows/twice.yaml': WORKFLOW,
    'workflows/half.yaml': 'name: half\nsteps:\n  - name: nothing\n',
  },
  told.folder,
)
const toolable = (...args: readonly string[]) => runProgram(TOOLABLE, args, { cwd: project.folder })
const dashboard = await startDashboard(project.folder)

describe('workflows', () => {
  test('the list shows how each went last, and what cannot be run [10.workflows-list]', async () => {
    await toolable('run', 'twice', '--mood', 'loud')
    const page = await openPage(dashboard, { path: '/workflows' })
    const row = page
      .getByRole('table', { name: 'Workflows' })
      .getByRole('row')
      .filter({ hasText: 'Say a text in two ways' })
    await row.getByText('completed').waitFor()
    await page.getByRole('row').filter({ hasText: 'half' }).getByText('✗').waitFor()
    await keepPicture(page, 'workflows')
    await row.getByRole('link', { name: 'twice' }).click()
    await page.getByRole('heading', { name: 'twice' }).waitFor()
  })

  test('a workflow is a graph, a plan and its source [10.workflow-page]', async () => {
    const page = await openPage(dashboard, { path: '/workflows/twice' })
    await page
      .getByRole('group', { name: 'Graph of the steps' })
      .getByRole('button', { name: /first/ })
      .click()
    const step = page.getByRole('region', { name: 'Step first' })
    expect(await step.textContent()).toContain('repeat_text')
    expect(page.url()).toContain('step=first')
    await keepPicture(page, 'workflow')
    await page.getByRole('tab', { name: 'Plan' }).click()
    await expect
      .poll(() => page.getByRole('group', { name: 'plan' }).textContent())
      .toContain('first')
    await page.getByRole('tab', { name: 'Source' }).click()
    await expect
      .poll(() => page.getByRole('group', { name: 'source' }).locator('pre').textContent())
      .toBe(WORKFLOW)
  })

  test('it is run from its form, and the grid shows steps and runs as they go [10.workflow-grid]', async () => {
    const page = await openPage(dashboard, { path: '/workflows/twice?tab=grid', dark: true })
    const grid = page.getByRole('table', { name: 'Steps and runs' })
    await grid.waitFor()
    const runs = async (): Promise<number> => (await grid.getByRole('columnheader').count()) - 1
    const before = await runs()
    const form = await openPage(dashboard, { path: '/workflows/twice' })
    await form.getByRole('radio', { name: 'wrong' }).check()
    await form.getByText('ready').waitFor()
    await form.getByRole('button', { name: 'Start' }).click()
    await form.waitForURL('**/runs/r-*')
    await expect.poll(runs).toBe(before + 1)
    const cells = (step: string) =>
      grid
        .getByRole('row', { name: new RegExp(`^${step} `) })
        .getByRole('cell')
        .allInnerTexts()
    const words = async (step: string) =>
      (await cells(step)).map((text) => text.replace(/[^a-z ]/g, '').trim())
    await expect.poll(() => words('first')).toEqual(['failed', 'ok'])
    await expect.poll(() => words('rest/right')).toEqual(['not reached', 'ok'])
    await page.getByRole('columnheader').nth(1).getByText('failed').waitFor()
    await keepPicture(page, 'workflow-grid')
  })
})

describe('plan', () => {
  test('plans of files and of runs show their steps, and move when they do [10.plan-screen]', async () => {
    const page = await openPage(dashboard, { path: '/plan' })
    await page.getByText('There is no plan').waitFor()
    await toolable('plan', 'setup', 'Ship version 2', 'Mend the test', 'Write the notes')
    await toolable('plan', 'update', '1', '--status', 'done')
    await page.reload()
    const kept = page.getByRole('region', { name: 'Ship version 2' })
    await kept.getByRole('progressbar', { name: '1 of 2 steps done' }).waitFor()
    expect(await kept.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('done: '),
      expect.stringContaining('pending: '),
    ])
    const steps = (...states: readonly string[]) => ({
      type: 'progress',
      plan: {
        objective: 'Tidy up',
        status: 'active',
        steps: states.map((status, index) => ({
          step_id: index + 1,
          title: `Room ${index + 1}`,
          status,
        })),
      },
    })
    const run = await startTold(told, undefined, steps('in_progress', 'pending'))
    const card = page.getByRole('region', { name: 'Tidy up' })
    await card.getByRole('link', { name: run.id }).waitFor()
    run.say(steps('done', 'in_progress'))
    await card.getByRole('progressbar', { name: '1 of 2 steps done' }).waitFor()
    await card
      .getByRole('listitem')
      .filter({ hasText: 'Room 2' })
      .getByText('in progress')
      .waitFor()
    await keepPicture(page, 'plan')
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
    await card.getByText('completed').waitFor()
  })
})

describe('doctor', () => {
  test('the machine is looked at, and what is missing has a fix to copy [10.doctor-screen]', async () => {
    const page = await openPage(dashboard, { path: '/doctor' })
    await page.getByText(/tools are held at level L\d/).waitFor({ timeout: 60_000 })
    const report = await dashboard.get('/api/doctor')
    for (const { id, found } of report.findings)
      await page
        .getByText(id, { exact: true })
        .and(page.locator('strong'))
        .filter({ visible: true })
        .first()
        .waitFor()
        .then(() => expect(found).not.toBe(''))
    expect(await page.getByRole('button', { name: 'Copy fix' }).count()).toBeGreaterThanOrEqual(
      report.findings.filter(({ fix }: { readonly fix?: string }) => fix !== undefined).length,
    )
    await page.getByRole('region', { name: 'Disk' }).getByText(report.disk.folder).waitFor()
    await keepPicture(page, 'doctor')
    const narrow = await openPage(dashboard, { path: '/doctor', width: 400, dark: true })
    await narrow.getByRole('heading', { name: 'Agents' }).waitFor({ timeout: 60_000 })
    expect(
      await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    ).toBeLessThanOrEqual(0)
    await keepPicture(narrow, 'doctor-narrow')
  })

  test('old runs are removed after a question [10.doctor-clean]', async () => {
    const page = await openPage(dashboard, { path: '/doctor' })
    const disk = page.getByRole('region', { name: 'Disk' })
    const runs = join(project.folder, '.runs')
    const count = () => readdirSync(runs).filter((name) => name.startsWith('r-')).length
    const before = count()
    makeRuns(runs, { count: 3, now: Date.now() - 60 * 86_400_000, days: 1 })
    await disk.getByRole('textbox', { name: 'Days' }).fill('x', { timeout: 60_000 })
    expect(await disk.getByRole('button', { name: 'Clean up' }).isDisabled()).toBe(true)
    await disk.getByRole('textbox', { name: 'Days' }).fill('40')
    await disk.getByRole('button', { name: 'Clean up' }).click()
    await disk
      .getByRole('group', { name: /Remove all runs/ })
      .getByRole('button', { name: 'Clean up' })
      .click()
    await disk.getByText(/^3 runs removed, /).waitFor()
    expect(count()).toBe(before)
  })
})
