import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, expect } from 'vitest'
import { HANG_MS } from '../../support/limits.ts'
import type { Dashboard } from './dashboard.ts'

const PICTURES = fileURLToPath(new URL('../../../coverage/screenshots/', import.meta.url))

export type PageOptions = {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  /** The path to open first. */ readonly path?: string
  /** Errors of the page that the test brings about, for instance by ending the server. */ readonly expected?: readonly RegExp[]
}

let browser: Promise<Browser> | undefined
const open = new Set<BrowserContext>()
const problems: string[] = []

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail')
    for (const page of [...open].flatMap((context) => context.pages()))
      await keepPicture(page, `failed ${task.name.replace(/[^\w ]/g, '').slice(0, 80)}`).catch(
        () => undefined,
      )
  for (const context of open) await context.close()
  open.clear()
  // Whatever a test looks for, a page that reports errors or asks elsewhere is broken.
  expect(problems.splice(0)).toEqual([])
})
afterAll(async () => (await browser)?.close())

/**
 * Opens a page of a dashboard in a real Chromium, as a person does who follows the printed address.
 */
export async function openPage(
  dashboard: Pick<Dashboard, 'url' | 'origin'>,
  { width = 1280, height = 800, dark = false, path = '/', expected = [] }: PageOptions = {},
): Promise<Page> {
  const context = await (
    await (browser ??= launch())
  ).newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  open.add(context)
  context.setDefaultTimeout(HANG_MS)
  const page = await context.newPage()
  const report = (text: string): void =>
    void (expected.some((pattern) => pattern.test(text)) || problems.push(text))
  page.on('pageerror', (error) => report(`error in the page: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      report(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(dashboard.origin) && !request.url().startsWith('data:'))
      report(`asked elsewhere: ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    report(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const address = new URL(dashboard.url)
  const [pathname, search = ''] = path.split('?')
  address.pathname = pathname!
  for (const [name, value] of new URLSearchParams(search)) address.searchParams.append(name, value)
  await page.goto(address.href)
  return page
}

/** Keeps a picture of the page for people to look at. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}${name}.png` })
}

function launch(): Promise<Browser> {
  // The shell without windows needs a third of the time of the whole Chromium; it has no sandbox of
  // its own for root.
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      '--disable-gpu',
    ],
  })
}
