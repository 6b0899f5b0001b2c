import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { listFences } from '../../scripts/docs/fences.mjs'
import type { Fence } from '../../scripts/docs/fences.mjs'
import { pages, root } from './pages.ts'

describe.each(pages)('%s', (file) => {
  const page = readFileSync(join(root, file), 'utf8')
  const fences = listFences(page)

  test('every sample can be read as what it says it is', () => {
    expect(
      fences.filter(({ language }) => ['js', 'ts'].includes(language)).flatMap(listSyntaxErrors),
    ).toEqual([])
    for (const { body } of fences.filter(({ language }) => language === 'json')) JSON.parse(body)
  })

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
