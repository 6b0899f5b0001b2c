import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { listFences } from '../../scripts/docs/fences.mjs'
import type { Fence } from '../../scripts/docs/fences.mjs'
import { refreshPage } from '../../scripts/docs/refresh.mjs'
import '../support/without-coverage.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

describe.each(pages)('%s', (file) => {
  const page = readFileSync(join(root, file), 'utf8')
  const fences = listFences(page)

  test('shows the samples and the output of today; `node scripts/generate-docs.mjs` writes them', () => {
    expect(refreshPage(page)).toBe(page)
  }, 120_000)

  test('every sample can be read as what it says it is', () => {
    expect(
      fences.filter(({ language }) => ['js', 'ts'].includes(language)).flatMap(listSyntaxErrors),
    ).toEqual([])
    for (const { body } of fences.filter(({ language }) => language === 'json')) JSON.parse(body)
  })

  test('samples that say so run, and print what stands below them', () => {
    const results = fences.flatMap((fence, index) =>
      fence.words.includes('run') ? [{ fence, expected: fences[index + 1] }] : [],
    )
    for (const { fence, expected } of results) {
      const { status, stdout, stderr } = runModule(fence.body)
      expect(stderr).toBe('')
      expect(status).toBe(0)
      if (expected?.words.includes('printed')) expect(stdout).toBe(expected.body)
    }
  }, 120_000)

  test('its links lead somewhere', () => {
    const links = [
      ...page.replaceAll(/```[^]*?```/g, '').matchAll(/\]\((?!https?:)([^)]+)\)/g),
    ].map((match) => match[1] ?? '')
    expect(links.filter((link) => !leadsSomewhere(link, join(root, file)))).toEqual([])
  })
})

function listSyntaxErrors({ body, language }: Fence): string[] {
  const { diagnostics = [] } = ts.transpileModule(body, {
    reportDiagnostics: true,
    fileName: `sample.${language}`,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ESNext,
      allowJs: true,
    },
  })
  return diagnostics.map(
    ({ messageText }) =>
      `${ts.flattenDiagnosticMessageText(messageText, ' ')}: ${body.slice(0, 80)}`,
  )
}

function runModule(code: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
    timeout: 30_000,
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      NODE_V8_COVERAGE: process.env['NODE_V8_COVERAGE'] ?? '',
    },
  })
}

function leadsSomewhere(link: string, from: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? from : resolve(dirname(from), path)
  if (!existsSync(target)) return false
  return anchor === undefined || headingsOf(readFileSync(target, 'utf8')).includes(anchor)
}

function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
