/** The promises of section 8 of the specification about files that roll back. */
export const FILES: { readonly [name: string]: string } = {
  'files-model':
    'Files in a folder and in memory are what a plain model says, after every sequence of steps, commits and rollbacks, empty folders included.',
  'files-rollback':
    'What a call did to files is gone when it fails, also after its commit, until it is ended.',
  'files-memory':
    'Files in memory share structure between trees, become JSON and come back from it.',
  'files-memory-room':
    'Files in memory have a limit together; a call beyond it is DISK_FULL, also one that others left no room, and leaves them as they were.',
  'files-isolated':
    'A call sees its own changes of files; nobody else sees anything of them before its commit.',
  'files-conflict':
    'A call that changes files fails with a CONFLICT that can be retried when others changed what it had read or changed.',
  'files-turns':
    'Commits to one root wait for each other, also those of other processes; the lock of a process that is gone holds nobody up.',
  'files-nested':
    'A call inside another works on its changes of files, and gives it its own or forgets them alone.',
  'files-read-only': 'A view that is for reading refuses every change.',
  'files-over': 'The files of a call that is over are refused to what it left running.',
  'files-root': 'A root that is no folder is a CONFIG error.',
  'files-killed': 'A process that is killed in the middle of a call leaves the folder as it was.',
  'files-journal':
    'A commit that was cut off anywhere is taken back by the next one to open the folder, also when that one is cut off too.',
  'files-disk-full': 'A full disk is DISK_FULL, and leaves the folder as it was.',
  'files-permission':
    'What the user of the process may not change is PERMISSION, although files are replaced and not written.',
  'files-mode': 'A file that is changed or moved keeps its mode.',
  'files-confined':
    'No path and no link leads out of the root, also one that is swapped in between; devices and pipes are refused.',
  'files-hidden': 'The place where changes wait is no path, and is found by no list and no search.',
  'files-hostile-journal':
    'A record of changes that somebody else planted moves nothing out of the root.',
  'files-pages':
    'Lists, lines and searches come in pages; what is too much at once is OUTPUT_LIMIT, with advice.',
  'files-glob':
    'A pattern for paths is held against them in time that grows with their length alone.',
  'files-grep':
    'A search finds texts and expressions in text files only, in bounded time, whatever the expression is.',
  'files-tools':
    'fileTools offers the files of a state to a model: read, write, edit, list, find, search, remove, move.',
  'files-tools-advice':
    'Refusals of file tools tell which path or text was probably meant, and work with read before write.',
}
