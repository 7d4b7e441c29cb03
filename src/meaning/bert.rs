//! A BERT encoder for single sentences, on the processor: tokens in, the mean of the last layer out, scaled to one length.

use std::fs;
use std::path::Path;

use candle_core::{DType, Device, Module, Result as Computed, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokenizers::{Tokenizer, TruncationParams};

use super::{ModelDigest, UNIT, Vector};

/// Why there is no model, or no vector.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Tokens of a text at most; what follows does not count.
const MOST_TOKENS: usize = 256;
/// Characters of a text that are split into tokens at most.
const MOST_CHARACTERS: usize = 4_000;

/// What `config.json` says that matters here.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
}

impl Config {
    /// Refuses what this encoder would compute wrongly.
    fn check(&self) -> Result<(), Failure> {
        let positions = self.position_embedding_type.as_deref().unwrap_or("absolute");
        for (name, found, expected) in [
            ("model_type", self.model_type.as_str(), "bert"),
            ("hidden_act", &self.hidden_act, "gelu"),
            ("position_embedding_type", positions, "absolute"),
        ] {
            if found != expected {
                return Err(format!("config.json: {name} is {found:?}, not {expected:?}").into());
            }
        }
        if self.hidden_size.checked_rem(self.num_attention_heads) != Some(0) {
            return Err("config.json: hidden_size is no multiple of num_attention_heads".into());
        }
        Ok(())
    }
}

/// The network and the vocabulary that belongs to it.
pub(super) struct Network {
    tokenizer: Tokenizer,
    words: Embedding,
    positions: Embedding,
    types: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Network {
    /// Reads the model in `directory` and tries it on a word.
    pub(super) fn load(directory: &Path) -> Result<(Self, ModelDigest), Failure> {
        let mut digest = Sha256::new();
        let mut file = |name: &str| -> Result<Vec<u8>, Failure> {
            let bytes = fs::read(directory.join(name)).map_err(|why| format!("{name}: {why}"))?;
            digest.update(bytes.len().to_le_bytes());
            digest.update(&bytes);
            Ok(bytes)
        };
        let config = file("config.json")?;
        let config: Config =
            serde_json::from_slice(&config).map_err(|why| format!("config.json: {why}"))?;
        config.check()?;
        let tokenizer = tokenizer(&file("tokenizer.json")?, config.max_position_embeddings)
            .map_err(|why| format!("tokenizer.json: {why}"))?;
        let network = Self::build(tokenizer, &config, file("model.safetensors")?)
            .map_err(|why| format!("model.safetensors: {}", first_line(&why)))?;
        network
            .vector("guichet")
            .map_err(|why| format!("it does not work: {}", first_line(&why)))?;
        Ok((network, digest.finalize().into()))
    }

    fn build(tokenizer: Tokenizer, config: &Config, weights: Vec<u8>) -> Computed<Self> {
        let mut root = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        if root.contains_tensor("bert.embeddings.word_embeddings.weight") {
            root = root.pp("bert");
        }
        let size = config.hidden_size;
        let input = root.pp("embeddings");
        let layer = |n| Layer::build(config, &root.pp("encoder.layer").pp(n));
        Ok(Self {
            tokenizer,
            words: embedding(config.vocab_size, size, input.pp("word_embeddings"))?,
            positions: embedding(
                config.max_position_embeddings,
                size,
                input.pp("position_embeddings"),
            )?,
            types: embedding(config.type_vocab_size, size, input.pp("token_type_embeddings"))?,
            norm: layer_norm(size, config.layer_norm_eps, input.pp("LayerNorm"))?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Computed<_>>()?,
        })
    }

    /// What a text means.
    pub(super) fn vector(&self, text: &str) -> Result<Vector, Failure> {
        let beginning: String = text.chars().take(MOST_CHARACTERS).collect();
        let tokens = self.tokenizer.encode(beginning, true)?;
        let components = self.direction(tokens.get_ids())?;
        Vector::of(&components).ok_or_else(|| "the network gives no direction".into())
    }

    /// The mean of the last layer, as components of a vector of the length [`UNIT`].
    fn direction(&self, tokens: &[u32]) -> Computed<Vec<i64>> {
        let tokens = Tensor::new(tokens, &Device::Cpu)?;
        let count = u32::try_from(tokens.elem_count()).map_err(candle_core::Error::wrap)?;
        let positions = Tensor::arange(0, count, &Device::Cpu)?;
        let types = tokens.zeros_like()?;
        let input = self.words.forward(&tokens)?.add(&self.positions.forward(&positions)?)?;
        let input = input.add(&self.types.forward(&types)?)?;
        let start = self.norm.forward(&input)?;
        let last = self.layers.iter().try_fold(start, |input, layer| layer.forward(&input))?;
        let mean = last.mean(0)?;
        let length = mean.sqr()?.sum_all()?.sqrt()?;
        let unit = mean.broadcast_div(&length)?.affine(f64::from(UNIT), 0.0)?;
        unit.round()?.to_dtype(DType::I64)?.to_vec1()
    }
}

/// The tokenizer in `bytes`, without the padding that it may ask for and with our limit.
fn tokenizer(bytes: &[u8], positions: usize) -> Result<Tokenizer, Failure> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    let max_length = MOST_TOKENS.min(positions);
    let limit = TruncationParams { max_length, ..TruncationParams::default() };
    tokenizer.with_padding(None).with_truncation(Some(limit))?;
    Ok(tokenizer)
}

/// What went wrong, without the trace that may follow it.
fn first_line(why: &impl ToString) -> String {
    why.to_string().lines().next().unwrap_or_default().to_owned()
}

/// One layer: every token attends to every other, then each is transformed by itself.
struct Layer {
    heads: usize,
    scale: f64,
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Layer {
    fn build(config: &Config, from: &VarBuilder<'_>) -> Computed<Self> {
        let (size, wide, eps) =
            (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let heads = config.num_attention_heads;
        let attention = from.pp("attention.self");
        let attended = from.pp("attention.output");
        let output = from.pp("output");
        let of_head = u32::try_from(size.checked_div(heads).unwrap_or(size));
        Ok(Self {
            heads,
            scale: f64::from(of_head.map_err(candle_core::Error::wrap)?).sqrt().recip(),
            query: linear(size, size, attention.pp("query"))?,
            key: linear(size, size, attention.pp("key"))?,
            value: linear(size, size, attention.pp("value"))?,
            attended: linear(size, size, attended.pp("dense"))?,
            attended_norm: layer_norm(size, eps, attended.pp("LayerNorm"))?,
            wide: linear(size, wide, from.pp("intermediate.dense"))?,
            narrow: linear(wide, size, output.pp("dense"))?,
            norm: layer_norm(size, eps, output.pp("LayerNorm"))?,
        })
    }

    fn forward(&self, input: &Tensor) -> Computed<Tensor> {
        let by_head = |linear: &Linear| {
            let (tokens, size) = input.dims2()?;
            let of_head = size.checked_div(self.heads).unwrap_or(size);
            let all = linear.forward(input)?.reshape((tokens, self.heads, of_head))?;
            all.transpose(0, 1)?.contiguous()
        };
        let (query, key, value) =
            (by_head(&self.query)?, by_head(&self.key)?, by_head(&self.value)?);
        let scores = query.matmul(&key.t()?.contiguous()?)?.affine(self.scale, 0.0)?;
        let mixed = softmax_last_dim(&scores)?.matmul(&value)?.transpose(0, 1)?.contiguous()?;
        let attended = self.attended.forward(&mixed.reshape(input.shape())?)?;
        let attended = self.attended_norm.forward(&attended.add(input)?)?;
        let wide = self.wide.forward(&attended)?.gelu_erf()?;
        self.norm.forward(&self.narrow.forward(&wide)?.add(&attended)?)
    }
}
