import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadWorkflow } from '../../../src/workflow/definition/load.ts'
import { makeFolder } from '../../support/run-program.ts'

describe('workflows in files [9.nested-files]', () => {
  test('others are read from the folder of the file that names them', async () => {
    const cwd = folderWith({
      'flow.yaml':
        'steps: [{name: sub, workflow: ./parts/sub.yaml, input: {a: 1}}, {name: again, workflow: parts/sub.yaml}]',
      'parts/sub.yaml': 'input: {a: integer?}\nsteps: [{workflow: ../leaf.json}]',
      'leaf.json': '{"name":"leaf","steps":["x ${{ input.y }}"]}',
    })
    const leaf = {
      name: 'leaf',
      steps: [{ type: 'tool', name: 'tool-1', command: 'x ${{ input.y }}' }],
    }
    const sub = {
      name: 'sub',
      input: {
        type: 'object',
        properties: { a: { type: 'integer' } },
        additionalProperties: false,
      },
      steps: [{ type: 'workflow', name: 'workflow-1', workflow: leaf }],
    }
    expect(await loadWorkflow('flow.yaml', { cwd })).toEqual({
      name: 'flow',
      steps: [
        { type: 'workflow', name: 'sub', workflow: sub, input: { a: 1 } },
        { type: 'workflow', name: 'again', workflow: sub },
      ],
    })
  })

  test('workflows that contain each other are refused with the circle', async () => {
    const cwd = folderWith({
      'a.yaml': 'steps: [{workflow: sub/b.yaml}]',
      'sub/b.yaml': 'steps:\n  - x\n  - workflow: {steps: [{workflow: ../a.yaml}]}',
      'self.yaml': 'steps: [{workflow: self.yaml}]',
    })
    await expect(loadWorkflow('a.yaml', { cwd })).rejects.toMatchObject({
      code: 'CONFIG',
      message:
        'sub/b.yaml:3: steps[1].workflow.steps[0].workflow: workflows contain each other: a.yaml → sub/b.yaml → a.yaml',
    })
    await expect(loadWorkflow('self.yaml', { cwd })).rejects.toMatchObject({
      message: expect.stringContaining('self.yaml → self.yaml') as unknown,
    })
  })

  test('problems of all files are told, each with its own', async () => {
    const cwd = folderWith({
      'a.yaml':
        'steps:\n  - {workflow: b.yaml}\n  - {workflow: gone.yaml}\n  - {workflow: folder}\n  - {tol: x}',
      'b.yaml': 'steps:\n  - command: x ${{ steps.y.result }}',
      'folder/x.txt': '',
    })
    await expect(loadWorkflow('a.yaml', { cwd })).rejects.toMatchObject({
      message:
        "b.yaml:2: steps[0].command: there is no step 'y'\na.yaml:3: steps[1].workflow: the workflow gone.yaml does not exist\na.yaml:4: steps[2].workflow: the workflow folder is no file\na.yaml:5: steps[3].tol: unknown key 'tol' in a step; did you mean 'tool'?",
    })
  })

  test('files outside are not read, by no way', async () => {
    const outside = folderWith({ 'secret.yaml': 'token: hunter2' })
    const cwd = folderWith({
      'flows/a.yaml': 'steps: [{workflow: ../../x/secret.yaml}]',
      'b.yaml': `steps: [{workflow: ${join(outside, 'secret.yaml')}}]`,
      'c.yaml': 'steps: [{workflow: link.yaml}]',
    })
    symlinkSync(join(outside, 'secret.yaml'), join(cwd, 'link.yaml'))
    for (const file of ['b.yaml', 'c.yaml'])
      await expect(loadWorkflow(file, { cwd })).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringMatching(/^(b|c)\.yaml:1: .* lies outside /) as unknown,
      })
    await expect(loadWorkflow('flows/a.yaml', { cwd })).rejects.toMatchObject({
      message: expect.stringContaining('does not exist') as unknown,
    })
  })

  test('a file that grows with every level is refused', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 9 }, (_, level) => [
        `f${level}.yaml`,
        `steps: [${Array.from({ length: 5 }, () => `{workflow: f${level + 1}.yaml}`).join(', ')}]`,
      ]),
    )
    const cwd = folderWith({
      ...files,
      'f9.yaml': 'steps: [x]',
      'deep0.yaml': 'steps: [{workflow: deep1.yaml}]',
      ...Object.fromEntries(
        Array.from({ length: 12 }, (_, level) => [
          `deep${level + 1}.yaml`,
          `steps: [{workflow: deep${level + 2}.yaml}]`,
        ]),
      ),
    })
    await expect(loadWorkflow('f0.yaml', { cwd })).rejects.toMatchObject({
      message: expect.stringContaining('more than 5000 steps') as unknown,
    })
    await expect(loadWorkflow('deep0.yaml', { cwd })).rejects.toMatchObject({
      message: expect.stringContaining('nested more than 10 levels') as unknown,
    })
  })

  test('code gives the workflow that it exports by default, or the only one; everything else is told [9.definition-code]', async () => {
    const head = `import { workflow } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)}\n`
    const one = (name: string): string =>
      `workflow({ name: '${name}' }, (w) => { w.command('say', 'shout --text hello') })`
    const cwd = folderWith({
      'only.mjs': `${head}export const tidy = ${one('tidy')}\nexport const other = 1\n`,
      'default.mjs': `${head}export const first = ${one('first')}\nexport default ${one('second')}\n`,
      'several.mjs': `${head}export const a = ${one('a')}\nexport const b = ${one('b')}\n`,
      'none.mjs': 'export const steps = []\n',
      'broken.mjs': "throw new Error('not today')\n",
    })
    expect(await loadWorkflow('only.mjs', { cwd })).toEqual({
      name: 'tidy',
      steps: [{ type: 'tool', name: 'say', command: 'shout --text hello' }],
    })
    expect((await loadWorkflow('default.mjs', { cwd })).name).toBe('second')
    const told = async (file: string): Promise<unknown> =>
      loadWorkflow(file, { cwd }).catch((error: unknown) => error)
    expect(await told('several.mjs')).toMatchObject({
      code: 'CONFIG',
      message: 'several.mjs exports several workflows: a, b',
    })
    expect(await told('none.mjs')).toMatchObject({
      code: 'CONFIG',
      message: 'none.mjs exports no workflow',
    })
    expect(await told('broken.mjs')).toMatchObject({
      code: 'CONFIG',
      message: 'broken.mjs:1: importing it failed: not today',
    })
  })

  test('what is no file, no text or too much is refused', async () => {
    const cwd = folderWith({ 'big.yaml': `#${'x'.repeat(300_000)}`, 'flow.yaml': 'steps: [x]' })
    writeFileSync(join(cwd, 'latin.yaml'), Buffer.from([0x73, 0xe4]))
    await expect(loadWorkflow('gone.yaml', { cwd })).rejects.toMatchObject({
      code: 'INVALID_PATH',
      message: 'the workflow gone.yaml does not exist',
    })
    await expect(loadWorkflow('.', { cwd })).rejects.toMatchObject({
      code: 'INVALID_PATH',
      message: 'the workflow . is no file',
    })
    await expect(loadWorkflow('big.yaml', { cwd })).rejects.toMatchObject({
      message: expect.stringContaining('a definition may have') as unknown,
    })
    await expect(loadWorkflow('latin.yaml', { cwd })).rejects.toMatchObject({
      message: expect.stringContaining('is not UTF-8') as unknown,
    })
    expect((await loadWorkflow(join(cwd, 'flow.yaml'))).name).toBe('flow')
  })
})

function folderWith(files: { readonly [path: string]: string }): string {
  const folder = makeFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
