#!/bin/sh
# python.sh README TRAIN_LM FOLDER: trains a tiny model in FOLDER and runs README's Python there. Exit 77
# (skipped) where no Python with h5py is found.
set -eu
readme=$1 train_lm=$2 folder=$3
python=""
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c 'import h5py' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then echo "skipped: no python3 with h5py"; exit 77; fi
mkdir -p "$folder"
cd "$folder"
"$train_lm" --corpus synthetic --n_layer 1 --n_head 2 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 2 \
  --max_iters 12 --warmup_iters 1 --log_interval 5 --force > log.txt
sed -n '/^```python$/,/^```$/p' "$readme" | grep -v '^```' > read.py
"$python" read.py
