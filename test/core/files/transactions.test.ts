import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { folderFiles, memoryFiles } from '../../../src/core/files/files.ts'
import type { MemoryFilesJson } from '../../../src/core/files/memory.ts'
import type { Filesystem, TransactionPart } from '../../../src/protocol/state.ts'
import { anyStep, perform, performPlainly, readDisk, readView, sorted, writeDisk } from './model.ts'
import type { Model } from './model.ts'
import { makeRoot } from './roots.ts'
import { rounds } from '../../support/rounds.ts'

type Part = TransactionPart<Filesystem>

const anyEnd = fc.constantFrom('commit', 'rollback', 'commit, then rollback')
const anyCall = fc.record({ steps: fc.array(anyStep, { minLength: 1, maxLength: 8 }), end: anyEnd })

function modelOf({ files, folders }: MemoryFilesJson): Model {
  const model: Model = new Map(Object.entries(files) as [string, string][])
  for (const path of [...Object.keys(files), ...folders.map((folder) => `${folder}/`)])
    path.split('/').forEach((_, index, all) => {
      if (index > 0) model.set(all.slice(0, index).join('/'), null)
    })
  return model
}

describe('files that roll back', () => {
  test('in a folder and in memory are what a plain model says, after every step, commit and rollback, and nothing is left behind [8.files-model] [8.files-rollback] [8.files-memory]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        async (calls, flush) => {
          const root = makeRoot()
          const [folder, memory] = [folderFiles(root, { flush }), memoryFiles()]
          let model: Model = new Map()
          for (const { steps, end } of calls) {
            const [onDisk, inMemory] = [
              folder.begin({ readOnly: false }),
              memory.begin({ readOnly: false }),
            ]
            const changed = new Map(model)
            for (const step of steps) {
              const wanted = performPlainly(changed, step)
              expect(
                [await perform(onDisk.view, step), await perform(inMemory.view, step)],
                JSON.stringify(step),
              ).toEqual([wanted, wanted])
            }
            const wanted = sorted(changed)
            expect(sorted(await readView(onDisk.view))).toEqual(wanted)
            expect(sorted(await readView(inMemory.view))).toEqual(wanted)
            // Others see nothing of it yet.
            expect(sorted(await readView(folder.begin({ readOnly: true }).view))).toEqual(
              sorted(model),
            )
            for (const part of [onDisk, inMemory]) {
              if (end !== 'rollback') await part.commit()
              if (end === 'commit') await part.end?.()
              else await part.rollback()
            }
            if (end === 'commit') model = changed
            expect(sorted(readDisk(root))).toEqual(sorted(model))
            expect(sorted(modelOf(memory.toJSON()))).toEqual(sorted(model))
            expect(
              memoryFiles(JSON.parse(JSON.stringify(memory)) as MemoryFilesJson).toJSON(),
            ).toEqual(memory.toJSON())
          }
          rmSync(root, { recursive: true })
        },
      ),
      { numRuns: rounds(60) },
    )
  }, 300_000)

  test('calls that run at the same time see nothing of each other, and what both changed is a conflict that can be retried [8.files-isolated] [8.files-conflict]', async () => {
    const root = makeRoot()
    for (const files of [folderFiles(root), memoryFiles()]) {
      const [first, second, third, fourth, reader] = [1, 2, 3, 4, 5].map((index) =>
        files.begin({ readOnly: index === 5 }),
      ) as [Part, Part, Part, Part, Part]
      await first.view.write('shared/a.txt', 'first')
      await second.view.write('shared/b.txt', 'second')
      expect(await third.view.stat('shared/a.txt')).toBeUndefined()
      await third.view.write('shared/a.txt', 'third')
      await expect(fourth.view.readText('shared/a.txt')).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await fourth.view.write('shared/c.txt', 'fourth')
      expect((await reader.view.glob('**')).total).toBe(0)
      await first.commit()
      const waiting = Promise.resolve(third.commit())
      await first.end?.()
      await expect(waiting).rejects.toMatchObject({
        code: 'CONFLICT',
        retryable: true,
        details: { path: 'shared/a.txt' },
      })
      await third.rollback()
      await expect(Promise.resolve(fourth.commit())).rejects.toMatchObject({
        code: 'CONFLICT',
        details: { path: 'shared/a.txt' },
      })
      await fourth.rollback()
      // It made the same folder, which is no contradiction.
      await second.commit()
      await second.end?.()
      const { view } = files.begin({ readOnly: true })
      expect([await view.readText('shared/a.txt'), await view.readText('shared/b.txt')]).toEqual([
        'first',
        'second',
      ])
    }
    expect(sorted(readDisk(root))).toEqual([
      ['shared', null],
      ['shared/a.txt', 'first'],
      ['shared/b.txt', 'second'],
    ])
  })

  test('what a call only read counts as well, when it changes something else [8.files-conflict]', async () => {
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      const write = async (path: string, text: string): Promise<void> => {
        const part = files.begin({ readOnly: false })
        await part.view.write(path, text)
        await part.commit()
        await part.end?.()
      }
      await write('price', '1')
      const [reader, writer, blind] = [true, false, false].map((readOnly) =>
        files.begin({ readOnly }),
      ) as [Part, Part, Part]
      for (const { view } of [reader, writer]) expect(await view.readText('price')).toBe('1')
      expect(await blind.view.stat('absent')).toBeUndefined()
      await writer.view.write('bill', 'one apple: 1')
      await blind.view.write('receipt', 'paid')
      await write('price', '2')
      await reader.commit()
      await reader.end?.()
      await expect(Promise.resolve(writer.commit())).rejects.toMatchObject({
        code: 'CONFLICT',
        retryable: true,
        details: { path: 'price' },
      })
      await writer.rollback()
      await blind.commit()
      await blind.end?.()
      expect(
        (await files.begin({ readOnly: true }).view.list()).items.map(({ path }) => path),
      ).toEqual(['price', 'receipt'])
    }
  })

  test('a folder that was not removed because of what lay in it: when that is gone meanwhile, the refusal is void, and so is the call [8.files-conflict]', async () => {
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      const make = files.begin({ readOnly: false })
      await make.view.write('full/only', '1')
      await make.commit()
      await make.end?.()
      const [refused, mover] = [files.begin({ readOnly: false }), files.begin({ readOnly: false })]
      await expect(refused.view.remove('full')).rejects.toMatchObject({
        code: 'CONFLICT',
        retryable: false,
      })
      await refused.view.write('note', 'it is not empty')
      await mover.view.move('full/only', 'elsewhere')
      await mover.commit()
      await mover.end?.()
      await expect(Promise.resolve(refused.commit())).rejects.toMatchObject({
        code: 'CONFLICT',
        retryable: true,
        details: { path: 'full/only' },
      })
      await refused.rollback()
    }
  })

  test('nor does a refusal count because of a file on the way, when that is gone meanwhile [8.files-conflict]', async () => {
    const refusals: readonly ((view: Filesystem) => Promise<unknown>)[] = [
      (view) => view.write('way/a', '1'),
      (view) => view.makeFolder('way/a'),
      (view) => view.move('other', 'way/a'),
      (view) => view.readText('way/a'),
      (view) => view.remove('way/a/b'),
    ]
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      for (const refusal of refusals) {
        const make = files.begin({ readOnly: false })
        for (const path of ['way', 'other']) await make.view.write(path, '1')
        await make.commit()
        await make.end?.()
        const [refused, remover] = [
          files.begin({ readOnly: false }),
          files.begin({ readOnly: false }),
        ]
        await expect(refusal(refused.view)).rejects.toMatchObject({
          code: 'CONFLICT',
          details: { path: 'way' },
        })
        await refused.view.write('note', 'there is a file on the way')
        await remover.view.remove('way')
        await remover.commit()
        await remover.end?.()
        await expect(Promise.resolve(refused.commit()), String(refusal)).rejects.toMatchObject({
          code: 'CONFLICT',
          retryable: true,
          details: { path: 'way' },
        })
        await refused.rollback()
      }
    }
  })

  test('a folder that a call was told is there has to be there at its commit [8.files-conflict]', async () => {
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      const make = files.begin({ readOnly: false })
      await make.view.makeFolder('wanted')
      await make.commit()
      await make.end?.()
      const [wants, mover] = [files.begin({ readOnly: false }), files.begin({ readOnly: false })]
      await wants.view.makeFolder('wanted')
      await mover.view.move('wanted', 'elsewhere')
      await mover.commit()
      await mover.end?.()
      await expect(Promise.resolve(wants.commit())).rejects.toMatchObject({
        code: 'CONFLICT',
        retryable: true,
        details: { path: 'wanted' },
      })
      await wants.rollback()
    }
  })

  test('a folder that was moved or removed, and made anew, is not the one that others wrote into [8.files-conflict]', async () => {
    const replaces: readonly ((view: Filesystem) => Promise<void>)[] = [
      (view) => view.move('folder', 'moved'),
      (view) => view.remove('folder', { recursive: true }),
    ]
    for (const [index, replace] of [...replaces, ...replaces].entries()) {
      const files = index < replaces.length ? memoryFiles() : folderFiles(makeRoot())
      const make = files.begin({ readOnly: false })
      await make.view.write('folder/old', '1')
      await make.commit()
      await make.end?.()
      const [replacer, writer] = [
        files.begin({ readOnly: false }),
        files.begin({ readOnly: false }),
      ]
      await replace(replacer.view)
      await replacer.view.write('folder/new', '1')
      await writer.view.write('folder/late', '1')
      await writer.commit()
      await writer.end?.()
      // Either it comes after the writer with all that it does, or it has to be repeated: what was
      // written is never in the new folder.
      const isKept = await Promise.resolve(replacer.commit()).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'CONFLICT', retryable: true })
          return false
        },
      )
      await (isKept ? replacer.end?.() : replacer.rollback())
      const { view } = files.begin({ readOnly: true })
      expect((await view.list('folder')).items.map(({ path }) => path)).toEqual(
        isKept ? ['folder/new'] : ['folder/late', 'folder/old'],
      )
    }
  })

  test('a call inside another sees its changes and gives it its own, or forgets them alone [8.files-nested]', async () => {
    const root = makeRoot()
    writeDisk(
      root,
      new Map([
        ['old/a', 'a'],
        ['old/b', 'b'],
      ]),
    )
    for (const files of [
      folderFiles(root),
      memoryFiles({ files: { 'old/a': 'a', 'old/b': 'b' } }),
    ]) {
      const outer = files.begin({ readOnly: false })
      await outer.view.write('old/a', 'outer')
      const [kept, forgotten, clashing, reader] = [false, false, false, true].map((readOnly) =>
        outer.begin({ readOnly }),
      ) as [Part, Part, Part, Part]
      expect(await kept.view.readText('old/a')).toBe('outer')
      await kept.view.write('old/b', 'kept')
      await forgotten.view.remove('old', { recursive: true })
      await clashing.view.append('old/b', ' too')
      await expect(reader.view.write('x', 'x')).rejects.toMatchObject({ code: 'PERMISSION' })
      // Files of the outer call may change while the inner ones are at work.
      await outer.view.write('old/c', 'outer')
      await kept.commit()
      await kept.end?.()
      await forgotten.rollback()
      await expect(Promise.resolve(clashing.commit())).rejects.toMatchObject({
        code: 'CONFLICT',
        details: { path: 'old/b' },
      })
      await clashing.rollback()
      const again = outer.begin({ readOnly: false })
      await again.view.write('new/d', 'again')
      await again.commit()
      await outer.view.write('old/e', 'outer')
      await again.rollback()
      expect(sorted(await readView(outer.view))).toEqual([
        ['old', null],
        ['old/a', 'outer'],
        ['old/b', 'kept'],
        ['old/c', 'outer'],
        ['old/e', 'outer'],
      ])
      const late = outer.begin({ readOnly: false })
      await late.view.write('late', 'late')
      await outer.commit()
      await expect(late.view.write('late', 'later')).rejects.toMatchObject({ code: 'CANCELLED' })
      await expect(Promise.resolve(late.commit())).rejects.toMatchObject({ code: 'CANCELLED' })
      await outer.end?.()
      expect(sorted(await readView(files.begin({ readOnly: true }).view))).toEqual([
        ['old', null],
        ['old/a', 'outer'],
        ['old/b', 'kept'],
        ['old/c', 'outer'],
        ['old/e', 'outer'],
      ])
    }
    expect(readDisk(root).has('.toolable-changes')).toBe(false)
  })

  test('of several calls that change different files all are kept, and one that commits waits for one that may still be taken back [8.files-turns]', async () => {
    const root = makeRoot()
    for (const files of [folderFiles(root), memoryFiles({ folders: ['d'] })]) {
      const setup = files.begin({ readOnly: false })
      await setup.view.makeFolder('d')
      await setup.commit()
      await setup.end?.()
      const parts = Array.from({ length: 5 }, () => files.begin({ readOnly: false }))
      await Promise.all(parts.map((part, index) => part.view.write(`d/${index}`, String(index))))
      await Promise.all(
        parts.map(async (part, index) => {
          await part.commit()
          await (index === 3 ? part.rollback() : part.end?.())
        }),
      )
      const { view } = files.begin({ readOnly: true })
      expect((await view.list('d')).items.map(({ path }) => path)).toEqual([
        'd/0',
        'd/1',
        'd/2',
        'd/4',
      ])
    }
  })

  test('a view that is for reading refuses to write, and one whose call is over refuses everything [8.files-read-only] [8.files-over]', async () => {
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      const reader = files.begin({ readOnly: true })
      await expect(reader.view.write('a', 'a')).rejects.toMatchObject({
        code: 'PERMISSION',
        message: expect.stringContaining("'a'"),
        suggestion: { fix: expect.stringContaining('readOnly') },
      })
      for (const act of [
        () => reader.view.append('a', 'a'),
        () => reader.view.remove('a'),
        () => reader.view.move('a', 'b'),
        () => reader.view.makeFolder('a'),
      ])
        await expect(act()).rejects.toMatchObject({ code: 'PERMISSION' })
      const writer = files.begin({ readOnly: false })
      await writer.view.write('a', 'a')
      await writer.rollback()
      for (const act of [
        () => writer.view.write('b', 'b'),
        () => writer.view.readText('a'),
        () => writer.view.glob('*'),
      ])
        await expect(act()).rejects.toMatchObject({ code: 'CANCELLED' })
      const unused = files.begin({ readOnly: false })
      await unused.commit()
      await unused.end?.()
      await expect(unused.view.write('c', 'c')).rejects.toMatchObject({ code: 'CANCELLED' })
      expect((await files.begin({ readOnly: true }).view.list()).items).toEqual([])
    }
  })

  test('a root that is none is a CONFIG error at the first look, and works as soon as it is there [8.files-root]', async () => {
    const root = join(makeRoot(), 'later')
    const files = folderFiles(root)
    await expect(files.begin({ readOnly: true }).view.list()).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('there is no such folder'),
    })
    await expect(
      folderFiles('/proc/version').begin({ readOnly: true }).view.list(),
    ).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining('it is no folder') })
    await expect(
      folderFiles('/tmp', { maxBytes: 0 }).begin({ readOnly: true }).view.list(),
    ).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining('maxBytes') })
    mkdirSync(root)
    expect((await files.begin({ readOnly: true }).view.list()).items).toEqual([])
  })
})
