import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { makeToldProject, question, startTold } from './support/told-run.ts'

const project = makeToldProject()
const dashboard = await startDashboard(project.folder)

describe('now', () => {
  test('a folder in which nothing ran shows how to begin, until something runs [10.now-first-run]', async () => {
    const page = await openPage(dashboard)
    await page.getByText('Nothing has run here yet').waitFor()
    const commands = page.getByRole('listitem').filter({ has: page.locator('code') })
    expect(await commands.count()).toBe(3)
    expect(await commands.nth(1).textContent()).toContain('toolable run hello --who World')
    await keepPicture(page, 'now-empty')
    const run = await startTold(project, undefined)
    await page.getByRole('list', { name: 'Running' }).getByRole('link', { name: run.id }).waitFor()
    expect(await page.getByText('Nothing has run here yet').count()).toBe(0)
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
  })

  test('a run moves before the eyes: its bar, its words, its end [10.now-live]', async () => {
    const page = await openPage(dashboard)
    const run = await startTold(project, dashboard, { type: 'progress', msg: 'looking around' })
    const item = page
      .getByRole('list', { name: 'Running' })
      .getByRole('listitem')
      .filter({ hasText: run.id })
    await item.getByText('looking around').waitFor()
    // Without a percentage there is nothing to draw a bar from.
    expect(await item.getByRole('progressbar').count()).toBe(0)
    await item.getByText('last heartbeat').waitFor()
    await item.getByText('ends in').waitFor()
    run.say({ type: 'progress', pct: 40, msg: 'page 4 of 10' })
    await item.getByText('page 4 of 10').waitFor()
    const bar = page.getByRole('progressbar', { name: `Progress of ${run.id}` })
    expect(await bar.getAttribute('aria-valuenow')).toBe('40')
    run.say({ type: 'progress', pct: 80, msg: 'page 8 of 10' })
    await item.getByText('page 8 of 10').waitFor()
    expect(await bar.getAttribute('aria-valuenow')).toBe('80')
    await page
      .getByRole('list', { name: 'Counts' })
      .getByRole('link', { name: '1 running' })
      .waitFor()
    await keepPicture(page, 'now-running')
    run.say({ type: 'error', code: 'E_NETWORK', msg: 'the line is dead' })
    const row = page
      .getByRole('table', { name: 'Finished' })
      .getByRole('row')
      .filter({ hasText: run.id })
    await row.getByRole('cell', { name: 'failed', exact: true }).waitFor()
    expect(await row.textContent()).toContain('E_NETWORK the line is dead')
    await item.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 failed today' }).waitFor()
  })

  test('a run that runs can be cancelled, after a question [10.now-live]', async () => {
    const page = await openPage(dashboard)
    const run = await startTold(project, dashboard)
    const item = page
      .getByRole('list', { name: 'Running' })
      .getByRole('listitem')
      .filter({ hasText: run.id })
    await item.getByRole('button', { name: 'Cancel' }).click()
    await item.getByRole('button', { name: 'No' }).click()
    await item.getByRole('button', { name: 'Cancel' }).click()
    await item
      .getByRole('group', { name: 'Cancel it?' })
      .getByRole('button', { name: 'Cancel' })
      .click()
    await run.ends('cancelled')
    await page
      .getByRole('table', { name: 'Finished' })
      .getByRole('row')
      .filter({ hasText: run.id })
      .getByRole('cell', { name: 'cancelled', exact: true })
      .waitFor()
  })

  test('silence becomes a warning, and then bad [10.now-silence]', async () => {
    const page = await openPage(dashboard)
    const run = await startTold(project, dashboard, { type: 'heartbeat' })
    const beat = page
      .getByRole('list', { name: 'Running' })
      .getByRole('listitem')
      .filter({ hasText: run.id })
      .locator('.heartbeat')
    await beat.waitFor()
    // The clock of the page goes ahead, because nobody wants to wait for a minute of silence; 90
    // seconds are allowed.
    await page.clock.setFixedTime(Date.now() + 60_000)
    await expect.poll(() => beat.getAttribute('class')).toBe('heartbeat warn')
    await page.clock.setFixedTime(Date.now() + 120_000)
    await beat.getByText('too silent').waitFor()
    expect(await beat.getAttribute('class')).toBe('heartbeat bad')
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
  })

  test('what waits is answered in place, and the run goes on [10.now-answers]', async () => {
    const page = await openPage(dashboard, { dark: true })
    const run = await startTold(
      project,
      dashboard,
      question(
        {
          prompt: 'Which way?',
          options: [
            { value: 'left', label: 'To the left', description: 'Through the wood' },
            { value: 'right' },
          ],
          default: 'right',
          timeout: 600,
        },
        'decision',
      ),
    )
    const card = page.getByRole('article', { name: 'Which way?' })
    await card.getByText('Through the wood').waitFor()
    await card.getByText(/takes right in \d/).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Decisions 1 waiting' }).waitFor()
    await expect.poll(() => page.title()).toMatch(/^\(1\) Now/)
    await keepPicture(page, 'now-waiting-dark')
    await card.getByRole('button', { name: 'To the left' }).click()
    await run.hears('was told \\"left\\"')
    await card.waitFor({ state: 'detached' })
    await page.getByText('Nothing waits for you.').waitFor()
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
  })
})

describe('the frame', () => {
  test('a narrow window needs no scrolling to the side, and times can be shown in UTC [10.dashboard-frame]', async () => {
    const page = await openPage(dashboard, { width: 400, height: 800 })
    const finished = page.getByRole('table', { name: 'Finished' })
    await finished.waitFor()
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    ).toBeLessThanOrEqual(0)
    await keepPicture(page, 'now-narrow')
    const time = finished.getByRole('time').first()
    expect(await time.getAttribute('title')).not.toContain('UTC')
    await page.getByRole('button', { name: 'UTC' }).click()
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    await page.reload()
    await page.getByRole('button', { name: 'UTC', pressed: true }).waitFor()
  })

  test('screens are reached by links and keys, and what is not there says so [10.dashboard-frame]', async () => {
    const page = await openPage(dashboard)
    await page
      .getByRole('navigation', { name: 'Screens' })
      .getByRole('link', { name: 'Runs' })
      .click()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.getByRole('heading', { name: 'Decisions' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.goto(`${dashboard.origin}/nowhere`)
    await page.getByText('There is nothing at this address').waitFor()
  })

  test('seven tabs of one browser are all alive, although it has six connections [10.dashboard-tabs]', async () => {
    const first = await openPage(dashboard)
    const pages = [first]
    while (pages.length < 7) {
      const next = await first.context().newPage()
      await next.goto(dashboard.origin)
      await next.getByRole('status', { name: 'Connection: live' }).waitFor()
      pages.push(next)
    }
    const run = await startTold(project, dashboard, {
      type: 'progress',
      pct: 10,
      msg: 'seen everywhere',
    })
    for (const page of pages) await page.getByText('seen everywhere').waitFor()
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
    for (const page of pages)
      await page
        .getByRole('table', { name: 'Finished' })
        .getByRole('link', { name: run.id })
        .waitFor()
  })

  test('a server that is gone is told, and one that comes back is taken up without a reload [10.dashboard-resumes]', async () => {
    const page = await openPage(dashboard, { expected: [/Failed to load resource/, /EventSource/] })
    await page.getByRole('status', { name: 'Connection: live' }).waitFor()
    await page.evaluate(() => Object.assign(globalThis, { isTheSamePage: true }))
    const run = await startTold(project, dashboard, { type: 'progress', pct: 10, msg: 'begun' })
    await page.getByRole('progressbar', { name: `Progress of ${run.id}` }).waitFor()
    await dashboard.kill()
    const banner = page.getByRole('alert')
    await banner.getByText('The connection to the server is lost.').waitFor()
    expect(await banner.textContent()).toMatch(/Last news (now|\d+ s ago)/)
    await keepPicture(page, 'now-lost')
    // After an answer that is no stream a browser does not come back by itself.
    const stranger = createServer((_request, response) =>
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}'),
    ).listen(dashboard.port, '127.0.0.1')
    await banner.getByText('The server does not let this page in.').waitFor()
    await new Promise((resolve) => {
      stranger.close(resolve)
      stranger.closeAllConnections()
    })
    // What happens meanwhile is on record.
    run.say({ type: 'progress', pct: 55, msg: 'half of it' })
    const another = await startTold(project, undefined)
    await run.hears('half of it')
    await dashboard.again()
    await page.getByText('half of it').waitFor()
    await page.getByRole('status', { name: 'Connection: live' }).waitFor()
    await banner.waitFor({ state: 'detached' })
    await page
      .getByRole('list', { name: 'Running' })
      .getByRole('link', { name: another.id })
      .waitFor()
    run.say({ type: 'progress', pct: 90, msg: 'nearly there' })
    await page.getByText('nearly there').waitFor()
    expect(
      await page.evaluate(() => (globalThis as { isTheSamePage?: boolean }).isTheSamePage),
    ).toBe(true)
    for (const one of [run, another]) {
      one.say({ type: 'result', status: 'ok' })
      await one.ends('completed')
    }
  })
})
