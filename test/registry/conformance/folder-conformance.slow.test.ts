import { describe } from 'vitest'
import { folderFixtures } from './fixtures/folder.ts'
import { conformance } from './suite.ts'

describe('[6.conformance] every form of tools in a folder', () => {
  for (const fixture of folderFixtures) conformance(fixture)
})
