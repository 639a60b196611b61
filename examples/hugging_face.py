# SPDX-License-Identifier: Apache-2.0
"""A model of Hugging Face's transformers, here a small GPT-2 with weights of its own.

    pip install transformers
    torchrun --nproc-per-node 2 hugging_face.py
    paceline run --model hugging_face:build --batch-size 8 --ranks 2 --optimizer adamw --strategy fusion,optimal-merge
"""

import torch
import transformers

BATCH, LENGTH, TOKENS = 8, 32, 96
STEPS = 40


def make_network():
    """In its place: transformers.AutoModelForCausalLM.from_pretrained("gpt2")."""
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=TOKENS, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
        )
    )


def batches(rank, count):
    """Rows that count up from a random number."""
    generator = torch.Generator().manual_seed(rank)
    for _ in range(count):
        begins = torch.randint(TOKENS, (BATCH, 1), generator=generator)
        tokens = (begins + torch.arange(LENGTH)) % TOKENS
        yield {"input_ids": tokens, "labels": tokens}


def build():
    """Network, example batch and loss, for `paceline run`, `predict` and `advise`."""
    [batch] = batches(0, 1)
    return make_network(), batch, lambda output: output.loss


def main():
    import paceline.torch as pt

    pt.init()
    torch.manual_seed(pt.rank())  # of dropout; all ranks start from rank 0's parameters
    net = make_network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, 5, STEPS)
    model = pt.DataParallel(net, optimizer, strategy="fusion")
    for step, batch in enumerate(batches(pt.rank(), STEPS)):
        loss = model.step(lambda: model(**batch).loss)
        schedule.step()
        if pt.rank() == 0 and step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.3f}")
    model.synchronize()
    if pt.rank() == 0:
        net.save_pretrained("hugging_face_model")


if __name__ == "__main__":
    main()
