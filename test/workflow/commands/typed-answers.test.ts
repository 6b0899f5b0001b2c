import { describe, expect, test } from 'vitest'
import '../../support/without-coverage.ts'
import { makeProject } from '../support.ts'

const DEFINITION = `name: asks
steps:
  - {name: version, type: ai_decision, decision_type: ver, instruction: Which?, options: ['1', '2', 'true']}
  - {name: zip, wait: {answer: {prompt: Zip?, schema: {type: string}}}}
  - {name: pin, wait: {answer: {prompt: PIN?}}}
  - {name: count, wait: {answer: {prompt: How many?, schema: {type: integer}}}}
  - {name: either, wait: {answer: {prompt: Which one?, schema: {enum: ['1', 2]}}}}
output: {version: '\${{ steps.version.result }}', zip: '\${{ steps.zip.result }}', pin: '\${{ steps.pin.result }}', count: '\${{ steps.count.result }}', either: '\${{ steps.either.result }}'}
`

describe('answers that are typed', () => {
  test('are read as their question wants them, beforehand and later [7.answers-typed]', async () => {
    const project = makeProject()
    project.write('asks.yaml', DEFINITION)
    const answers = ['ver=true', 'zip=12345', 'pin=007', 'count=3', 'either=1'].flatMap((one) => [
      '--answer',
      one,
    ])
    const { status, lines } = await project.toolable(['workflow', 'run', 'asks.yaml', ...answers])
    expect([status, lines.findLast(({ type }) => type === 'result').result]).toEqual([
      0,
      { version: 'true', zip: '12345', pin: '007', count: 3, either: '1' },
    ])

    const first = await project.toolable(['workflow', 'run', 'asks.yaml', ...answers.slice(2)], {
      input: '',
    })
    const id = first.lines[0].run_id as string
    expect((await project.toolable(['answer', id, '2'])).json.result).toMatchObject({
      question: 'version',
      value: '2',
    })
    const second = await project.toolable(['resume', id, '--answer', 'pin=1'])
    expect(second.lines.findLast(({ type }) => type === 'result').result).toEqual({
      version: '2',
      zip: '12345',
      pin: '1',
      count: 3,
      either: '1',
    })
  })

  test('are refused where no reading fits [7.answers-typed]', async () => {
    const project = makeProject()
    project.write(
      'one.yaml',
      'name: one\nsteps:\n  - {name: count, wait: {answer: {prompt: How many?, schema: {type: integer}}}}\n',
    )
    const { lines } = await project.toolable(['workflow', 'run', 'one.yaml'], { input: '' })
    const id = lines[0].run_id as string
    const refused = await project.toolable(['answer', id, '"3"'])
    expect(refused.json.error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('must be'),
    })
  })
})
