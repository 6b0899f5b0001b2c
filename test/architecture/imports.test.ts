import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import {
  allowedLayers,
  arrows,
  explainForbiddenImport,
  layerOf,
  processFiles,
} from '../../scripts/architecture.mjs'
import { findCycle } from './find-cycle.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const source = join(root, 'src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(source, name))
const graph = new Map(files.map((file) => [file, listImports(file)]))

describe('the import graph of src/', () => {
  test('is not empty', () => {
    expect(files.length).toBeGreaterThan(10)
    expect([...graph.values()].flat().length).toBeGreaterThan(10)
  })

  test('every file has a layer', () => {
    expect(files.filter((file) => layerOf(file) === undefined).map(shorten)).toEqual([])
  })

  test('every import follows the arrows', () => {
    const forbidden = [...graph].flatMap(([file, imports]) =>
      imports.flatMap((imported) => {
        const reason = explainForbiddenImport(file, imported)
        return reason === undefined ? [] : [`${shorten(file)} → ${shorten(imported)}: ${reason}`]
      }),
    )
    expect(forbidden).toEqual([])
  })

  test('has no cycle', () => {
    expect(findCycle(graph)?.map(shorten)).toBeUndefined()
  })

  test('every import points to a file that exists', () => {
    expect(
      [...graph.values()]
        .flat()
        .filter((file) => !graph.has(file))
        .map(shorten),
    ).toEqual([])
  })
})

describe('the table of arrows', () => {
  test('allows what stands to the left, and nothing else', () => {
    expect(allowedLayers('define')).toEqual(['cli/formats', 'define', 'protocol', 'util'])
    expect(allowedLayers('core')).toEqual(['cli/formats', 'core', 'define', 'protocol', 'util'])
    expect(allowedLayers('process')).toEqual(['process', 'protocol', 'sandbox', 'util'])
    expect(allowedLayers('views/model')).toEqual(['protocol', 'util', 'views/model'])
    expect(allowedLayers('views')).not.toContain('commands')
    expect(allowedLayers('commands')).toEqual(Object.keys(arrows).sort())
  })

  test('explains an import that points to the right', () => {
    const message = explainForbiddenImport(
      join(source, 'define/tool.ts'),
      join(source, 'core/invoke.ts'),
    )
    expect(message).toBe(
      'define may not import core; it may import cli/formats, define, protocol, util',
    )
    expect(
      explainForbiddenImport(join(source, 'core/invoke.ts'), join(source, 'define/tool.ts')),
    ).toBeUndefined()
    expect(
      explainForbiddenImport(join(source, 'stray.ts'), join(source, 'define/tool.ts')),
    ).toContain('belongs to no layer')
  })

  test('names only files in src/ that may touch the process', () => {
    expect(processFiles.filter((file) => !file.startsWith('src/'))).toEqual([])
  })
})

describe('finding cycles', () => {
  test('gives the files of a cycle in order, and nothing for a graph without one', () => {
    const cyclic = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ])
    expect(findCycle(cyclic)).toEqual(['b', 'c', 'b'])
    expect(
      findCycle(
        new Map([
          ['a', ['b', 'c']],
          ['b', ['c']],
          ['c', []],
        ]),
      ),
    ).toBeUndefined()
  })
})

function listImports(file: string): string[] {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'), true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => resolve(dirname(file), name))
}

function shorten(file: string): string {
  return relative(root, file)
}
