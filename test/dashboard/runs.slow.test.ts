import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeRuns } from '../views/support/make-runs.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { makeToldProject, startTold } from './support/told-run.ts'

const COUNT = 10_000
const project = makeToldProject()
const ids = makeRuns(join(project.folder, '.runs'), { count: COUNT })
const dashboard = await startDashboard(project.folder)

// So many folders take a while.
afterAll(async () => {
  await dashboard.stop()
  await rm(project.folder, { recursive: true, force: true })
})

describe('the list of runs', () => {
  test('ten thousand are scrolled from the newest to the oldest, and few are drawn [10.runs-many]', async () => {
    const page = await openPage(dashboard, { path: '/runs' })
    const table = page.getByRole('table', { name: 'Runs' })
    await table.getByRole('link', { name: ids[0]! }).waitFor()
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(COUNT + 1))
    await keepPicture(page, 'runs')
    for (const at of [0.3, 0.7, 1]) {
      await table.getByRole('rowgroup', { name: 'Runs' }).evaluate((element, part) => {
        element.scrollTop = element.scrollHeight * part
      }, at)
      await table
        .getByRole('link', { name: ids[Math.min(COUNT - 1, Math.floor(COUNT * at) + 2)]! })
        .waitFor()
    }
    expect(await table.getByRole('row').count()).toBeLessThan(100)
  })

  test('filters stand in the address, and lead to the same list again [10.runs-filters]', async () => {
    const { counts } = await dashboard.get('/api/runs?limit=1')
    const page = await openPage(dashboard, { path: '/runs' })
    const states = page.getByRole('group', { name: 'States' })
    await states
      .getByRole('button', { name: `failed ${counts.failed.toLocaleString('en')}` })
      .click()
    expect(new URL(page.url()).search).toBe('?state=failed')
    const table = page.getByRole('table', { name: 'Runs' })
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(counts.failed + 1))
    await page
      .getByRole('searchbox', { name: 'Search runs' })
      .fill('ECONNREFUSED tool:web.fetch caller:mcp')
    await page.keyboard.press('Enter')
    const found = await dashboard.get(
      '/api/runs?state=failed&tool=web.fetch&caller=mcp&text=ECONNREFUSED&limit=500',
    )
    expect(found.matching).toBeGreaterThan(0)
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(found.matching + 1))
    await table.getByRole('link', { name: found.rows[0].run_id }).waitFor()
    const address = page.url()
    expect([...new URL(address).searchParams].sort()).toEqual([
      ['caller', 'mcp'],
      ['state', 'failed'],
      ['text', 'ECONNREFUSED'],
      ['tool', 'web.fetch'],
    ])
    await page.reload()
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(found.matching + 1))
    await page.getByRole('button', { name: 'Remove the filter Started by' }).click()
    expect(new URL(page.url()).searchParams.has('caller')).toBe(false)
    await page.goBack()
    expect(page.url()).toBe(address)
    await page.getByText('Filters', { exact: true }).click()
    await page.getByRole('checkbox', { name: 'with artifacts' }).check()
    await page.getByText('No run fits this filter').waitFor()
    await page.getByRole('link', { name: 'Show all runs' }).click()
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(COUNT + 1))
  })

  test('a filter gets a name, and the browser keeps it [10.runs-filters]', async () => {
    const page = await openPage(dashboard, { path: '/runs?error=E_TIMEOUT&since=7d' })
    await page.getByRole('button', { name: 'Save this filter' }).click()
    await page.getByRole('textbox', { name: 'Name of the filter' }).fill('too slow')
    await page.keyboard.press('Enter')
    await page.goto(`${dashboard.origin}/runs`)
    const saved = page.getByRole('list', { name: 'Saved filters' })
    await saved.getByRole('link', { name: 'too slow' }).click()
    expect(new URL(page.url()).search).toBe('?error=E_TIMEOUT&since=7d')
    await keepPicture(page, 'runs-filtered')
    await saved.getByRole('button', { name: 'Forget the filter too slow' }).click()
    await saved.waitFor({ state: 'detached' })
  })

  test('new runs are announced and do not push the others away [10.runs-new]', async () => {
    const page = await openPage(dashboard, { path: '/runs' })
    const table = page.getByRole('table', { name: 'Runs' })
    const links = table.getByRole('link', { name: /^r-/ })
    await table.getByRole('link', { name: ids[0]! }).waitFor()
    const first = await links.first().textContent()
    const told = [
      await startTold(project, dashboard, { type: 'progress', pct: 30, msg: 'on its way' }),
      await startTold(project, dashboard),
    ]
    await page.getByRole('button', { name: '2 new' }).waitFor()
    expect(await links.first().textContent()).toBe(first)
    await keepPicture(page, 'runs-new')
    await page.keyboard.press('n')
    await expect.poll(() => links.first().textContent()).toBe(told[1]!.id)
    expect(await page.getByRole('button', { name: '2 new' }).count()).toBe(0)
    // What is in the list moves in its place.
    const row = table.getByRole('row').filter({ hasText: told[0]!.id })
    await row.getByText('on its way').waitFor()
    told[0]!.say({ type: 'progress', pct: 60, msg: 'half way' })
    await row.getByText('half way').waitFor()
    for (const run of told) {
      run.say({ type: 'result', status: 'ok' })
      await run.ends('completed')
    }
    await row.getByRole('cell', { name: 'completed', exact: true }).waitFor()
  })

  test('the keyboard goes through the list, opens, selects and searches [10.runs-keys]', async () => {
    const page = await openPage(dashboard, { path: '/runs?state=cancelled' })
    const links = page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: /^r-/ })
    await links.nth(5).waitFor()
    const names = await links.allTextContents()
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    for (const [key, expected] of [
      ['j', names[0]],
      ['j', names[1]],
      ['j', names[2]],
      ['k', names[1]],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(focused).toBe(expected)
    }
    await page.keyboard.press('x')
    await page.getByRole('group', { name: 'Selected runs' }).getByText('1 selected').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('group', { name: 'Selected runs' }).waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Next run').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    expect(
      await page
        .getByRole('searchbox', { name: 'Search runs' })
        .evaluate((box) => box === document.activeElement),
    ).toBe(true)
    // Keys are letters again while somebody types.
    await page.keyboard.type('jk')
    expect(await page.getByRole('searchbox', { name: 'Search runs' }).inputValue()).toBe('jk')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.goto(`${dashboard.origin}/runs?state=cancelled`)
    await links.nth(5).waitFor()
    await page.keyboard.press('j')
    await expect.poll(focused).toBe(names[0])
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${names[0]}`)
  })

  test('who comes back from a run finds the list where it was [10.runs-many]', async () => {
    const page = await openPage(dashboard, { path: '/runs' })
    const list = page.getByRole('rowgroup', { name: 'Runs' })
    await page.getByRole('link', { name: ids[0]! }).waitFor()
    await list.evaluate((element) => {
      element.scrollTop = element.scrollHeight / 2
    })
    const middle = page.getByRole('link', { name: ids[COUNT / 2 + 5]! })
    await middle.click()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${ids[COUNT / 2 + 5]}`)
    await page.goBack()
    await middle.waitFor()
  })

  test('several runs are selected, copied and cancelled together [10.runs-selected]', async () => {
    const told = [
      await startTold(project, dashboard),
      await startTold(project, dashboard),
      await startTold(project, dashboard),
    ]
    await expect.poll(async () => (await dashboard.get('/api/runs?state=running')).matching).toBe(3)
    const page = await openPage(dashboard, { path: '/runs?state=running' })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    for (const { id } of told) await page.getByRole('link', { name: id }).waitFor()
    await page.getByRole('checkbox', { name: `Select ${told[2]!.id}` }).click()
    await page
      .getByRole('checkbox', { name: `Select ${told[1]!.id}` })
      .click({ modifiers: ['Shift'] })
    const bar = page.getByRole('group', { name: 'Selected runs' })
    await bar.getByText('2 selected').waitFor()
    await bar.getByRole('button', { name: 'Copy ids' }).click()
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe(`${told[2]!.id}\n${told[1]!.id}`)
    await bar.getByRole('button', { name: 'Cancel 2' }).click()
    await keepPicture(page, 'runs-selected')
    await bar
      .getByRole('group', { name: 'Cancel 2 runs?' })
      .getByRole('button', { name: 'Cancel 2' })
      .click()
    await told[1]!.ends('cancelled')
    await told[2]!.ends('cancelled')
    await page.getByRole('link', { name: told[1]!.id }).waitFor({ state: 'detached' })
    expect(await page.getByRole('link', { name: told[0]!.id }).count()).toBe(1)
    told[0]!.say({ type: 'result', status: 'ok' })
    await told[0]!.ends('completed')
    // It is not one of those that run any more.
    await page.getByText('No run fits this filter').waitFor()
  })

  test('runs that are over are started again together [10.runs-selected]', async () => {
    const run = await startTold(project, dashboard, {
      type: 'error',
      code: 'E_UNKNOWN',
      msg: 'it broke',
    })
    await run.ends('failed')
    const page = await openPage(dashboard, {
      path: `/runs?tool=says_what_it_is_told&text=${run.id}`,
    })
    await page.getByRole('checkbox', { name: `Select ${run.id}` }).click()
    const bar = page.getByRole('group', { name: 'Selected runs' })
    await bar.getByRole('button', { name: 'Retry 1' }).click()
    await bar.getByRole('group').getByRole('button', { name: 'Retry 1' }).click()
    await bar.getByRole('button', { name: 'Retry 1' }).waitFor()
    await page.goto(`${dashboard.origin}/runs?tool=says_what_it_is_told&state=running`)
    const again = page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: /^r-/ })
    await again.waitFor()
    const id = (await again.textContent())!
    expect(id).not.toBe(run.id)
    await dashboard.post(`/api/runs/${id}/cancel`)
    await expect.poll(() => project.log(id).some(({ type }) => type === 'runner_end')).toBe(true)
  })

  test('a narrow window shows two lines for each run, dark too [10.dashboard-frame]', async () => {
    const page = await openPage(dashboard, { path: '/runs', width: 400, height: 800, dark: true })
    await page.getByRole('link', { name: /^r-/ }).first().waitFor()
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    ).toBeLessThanOrEqual(0)
    await keepPicture(page, 'runs-narrow-dark')
  })
})
