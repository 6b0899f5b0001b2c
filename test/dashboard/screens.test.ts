import { describe, expect, test } from 'vitest'
import { openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { makeToldProject, question, startTold } from './support/told-run.ts'
import { WORKFLOW, makeToolProject } from './support/tool-project.ts'

// One smoke test for each screen, in one browser and with one dashboard; the *.slow.test.ts files
// beside this one test the details.
const told = makeToldProject()
const { folder } = makeToolProject({ 'workflows/twice.yaml': WORKFLOW }, told.folder)
const dashboard = await startDashboard(folder)
const open = (path: string) => openPage(dashboard, { path })

describe('every screen opens', () => {
  test('Now: a run is shown while it runs and when it ends [10.now-live]', async () => {
    const page = await open('/')
    const run = await startTold(told, dashboard, { type: 'progress', pct: 40, msg: 'page 4 of 10' })
    await page.getByRole('list', { name: 'Running' }).getByText('page 4 of 10').waitFor()
    run.say({ type: 'result', status: 'ok' })
    await page
      .getByRole('table', { name: 'Finished' })
      .getByRole('link', { name: run.id })
      .waitFor()
  })

  test('Decisions: a question is answered [10.decisions-answer]', async () => {
    const page = await open('/decisions')
    const run = await startTold(
      told,
      dashboard,
      question(
        { prompt: 'Which way?', options: [{ value: 'left' }, { value: 'right' }], timeout: 600 },
        'decision',
      ),
    )
    await page
      .getByRole('article', { name: 'Which way?' })
      .getByRole('button', { name: 'left' })
      .click()
    await run.hears('was told \\"left\\"')
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
  })

  test('Runs and a run: the list leads to the page of a run [10.run-live]', async () => {
    const page = await open('/runs')
    const {
      rows: [{ run_id: id }],
    } = await dashboard.get('/api/runs?limit=1')
    await page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: id }).click()
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor()
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('list', { name: 'Events' }).getByText('runner_start').waitFor()
  })

  test('Tools and a tool: a tool is run from its form [10.tool-try-it]', async () => {
    const page = await open('/tools')
    await page
      .getByRole('table', { name: 'Tools' })
      .getByRole('link', { name: 'repeat_text', exact: true })
      .click()
    await page.getByRole('textbox', { name: 'text', exact: true }).fill('hello')
    await page.getByRole('radio', { name: 'calm' }).check()
    await page.getByText('ready').waitFor()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('completed').first().waitFor()
  })

  test('Workflows and a workflow: the list leads to the graph [10.workflow-page]', async () => {
    const page = await open('/workflows')
    await page
      .getByRole('table', { name: 'Workflows' })
      .getByRole('link', { name: 'twice' })
      .click()
    await page
      .getByRole('group', { name: 'Graph of the steps' })
      .getByRole('button', { name: /first/ })
      .click()
    expect(await page.getByRole('region', { name: 'Step first' }).textContent()).toContain(
      'repeat_text',
    )
  })

  test('Plan: without a plan it says so [10.plan-screen]', async () => {
    const page = await open('/plan')
    await page.getByText('There is no plan').waitFor()
  })

  test('Doctor: the machine is checked [10.doctor-screen]', async () => {
    const page = await open('/doctor')
    await page.getByText(/tools are held at level L\d/).waitFor()
    await page.getByRole('region', { name: 'Disk' }).waitFor()
  })
})
