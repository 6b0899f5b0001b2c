#!/usr/bin/env node
// region toolset
import { toolset } from 'toolable'
import { review } from './prompts.mjs'
import { deleteFiles } from './tools/delete-files.mjs'
import { findFiles } from './tools/find-files.mjs'
import { indexFiles } from './tools/index-files.mjs'
import { addNote, listNotes, notes } from './tools/notes.mjs'
import { readFile } from './tools/read-file.mjs'
import { renameFiles } from './tools/rename-files.mjs'
import { searchText } from './tools/search-text.mjs'
import { summarizeFile } from './tools/summarize-file.mjs'
import { writeFile } from './tools/write-file.mjs'

const fileTools = toolset({
  name: 'file-tools',
  version: '1.2.0',
  description: 'Find, read, search and tidy files',
  tools: {
    find_files: findFiles,
    read_file: readFile,
    search_text: searchText,
    index_files: indexFiles,
    summarize_file: summarizeFile,
    write_file: writeFile,
    rename_files: renameFiles,
    delete_files: deleteFiles,
    note: { add: addNote, list: listNotes },
  },
  resources: [notes],
  prompts: [review],
})

export default fileTools
await fileTools.run(import.meta)
// endregion
