import { folderFixtures } from './fixtures/folder.ts'
import { conformance } from './suite.ts'

for (const fixture of folderFixtures) conformance(fixture)
