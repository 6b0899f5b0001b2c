import { expect, test } from 'vitest'
import { quoteForShell } from '../../../../src/util/text.ts'
import { hideSecrets } from '../../../../src/views/model/form-values.ts'

const secret = { type: 'string', writeOnly: true }
const schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    key: secret,
    inner: {
      type: 'object',
      properties: {
        keys: { type: 'array', items: { type: 'string', format: 'password' } },
        either: { oneOf: [{ type: 'integer' }, secret] },
      },
    },
  },
}

test('[10.form-secrets] secrets are hidden in every text that shows the value', () => {
  const value = {
    name: 'plain',
    key: 'it\'s "so"\nsecret',
    inner: { keys: ['one-key', ''], either: 'third' },
  }
  const json = hideSecrets(JSON.stringify(value), schema, value)
  expect(json).toBe(
    '{"name":"plain","key":"••••••","inner":{"keys":["••••••",""],"either":"••••••"}}',
  )
  const command = hideSecrets(
    `toolable run x --name plain --key ${quoteForShell(value.key)} --keys one-key`,
    schema,
    value,
  )
  expect(command).toMatch(/^toolable run x --name plain --key \S*••••••\S* --keys ••••••$/)
  expect(command).not.toMatch(/secret|so/)
  expect(hideSecrets(quoteForShell(JSON.stringify({ key: value.key })), schema, value)).toBe(
    '\'{"key":"••••••"}\'',
  )
  expect(hideSecrets('a', schema, { key: '' })).toBe('a')
  expect(hideSecrets('a', schema, { key: 5 })).toBe('a')
})
